"""Plays the RedisSemaphore of asyncio-advanced-semaphores (Python): slots and waiters in sorted sets, pings, BLPOP.

Written from that program's description of its keys and scripts and from notes on its flow. A release sends no
notification, a waiter that was removed as dead never queues again, a 0 of ZADD XX CH counts as dead, and no holder
checks its own ttl.
Run: adv_sem.py SOCKET [--namespace adv-sem] [--heartbeat 180] [--ttl none|SECONDS] [--ping SECONDS]
Lines: acquire TAG NAME [limit=N] [wait=SECONDS] | release TAG | silence TAG | stats NAME |
count NAME KEY TIMES [limit=N] [wait=SECONDS] | quit. Answers: README.md.
"""

import argparse
import math
import sys
import threading
import time
import uuid

sys.dont_write_bytecode = True

from lines import Claim, Lines, Silenced, TimedOut, complain  # noqa: E402
from resp import Connection  # noqa: E402

NO_TTL = 2147483637  # with the 10 s that every EXPIRE adds: the largest 32-bit number
BLPOP_SECONDS = 1
PLACEHOLDER = "@@@ACQUISITION_ID@@@"

QUEUE = """
local id, heartbeat, ttl, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call("ZADD", KEYS[1], "NX", now, id)
redis.call("ZADD", KEYS[2], "NX", now + heartbeat, id)
redis.call("EXPIRE", KEYS[1], ttl + 10)
redis.call("EXPIRE", KEYS[2], ttl + 10)
"""

PURGE = """
local function purge(main, ttl_key, now)
    for _, id in ipairs(redis.call("ZRANGEBYSCORE", ttl_key, "-inf", now, "LIMIT", 0, 10000)) do
        redis.call("ZREM", main, id)
        redis.call("ZREM", ttl_key, id)
    end
    redis.call("ZREMRANGEBYSCORE", main, "-inf", now)
end
"""

# Dead waiters stay in the queue while all slots are held.
WAKE_UP_NEXTS = PURGE + """
local main, ttl_key, waiting, waiting_heartbeat = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local limit, heartbeat, ttl = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now, pattern = tonumber(ARGV[4]), ARGV[5]

purge(main, ttl_key, now)
local free = limit - redis.call("ZCARD", main)
if free <= 0 then return 0 end

for _, id in ipairs(redis.call("ZRANGEBYSCORE", waiting_heartbeat, "-inf", now, "LIMIT", 0, 10000)) do
    redis.call("ZREM", waiting, id)
    redis.call("ZREM", waiting_heartbeat, id)
end

local notified = 0
for _ = 1, free do
    local id = redis.call("ZPOPMIN", waiting)[1]
    if not id then break end
    redis.call("ZREM", waiting_heartbeat, id)
    redis.call("ZADD", main, "NX", now + heartbeat, id)
    redis.call("EXPIRE", main, ttl + 10)
    local list = string.gsub(pattern, "@@@ACQUISITION_ID@@@", id)
    redis.call("RPUSH", list, "1")
    redis.call("EXPIRE", list, heartbeat + 10)
    notified = notified + 1
end
return notified
"""

ACQUIRE = """
local main, ttl_key, max = KEYS[1], KEYS[2], KEYS[3]
local id, limit, heartbeat = ARGV[1], ARGV[2], tonumber(ARGV[3])
local ttl, now = tonumber(ARGV[4]), tonumber(ARGV[5])
local changed = redis.call("ZADD", main, "XX", "CH", now + heartbeat, id)
if changed == 1 then
    redis.call("EXPIRE", main, ttl + 10)
    redis.call("ZADD", ttl_key, now + ttl, id)
    redis.call("EXPIRE", ttl_key, ttl + 10)
end
redis.call("SET", max, limit, "EX", ttl + 10)
return {changed, redis.call("ZCARD", main)}
"""

RELEASE = """
local removed = redis.call("ZREM", KEYS[1], ARGV[1])
for i = 2, 4 do redis.call("ZREM", KEYS[i], ARGV[1]) end
return removed
"""

PING = """
local id, heartbeat, ttl, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
for i = 1, 3 do redis.call("EXPIRE", KEYS[i], ttl + 10) end
return {redis.call("ZADD", KEYS[2], "XX", "CH", now + heartbeat, id),
        redis.call("ZADD", KEYS[3], "XX", "CH", now + heartbeat, id)}
"""

CARD = PURGE + """
purge(KEYS[1], KEYS[2], tonumber(ARGV[1]))
return redis.call("ZCARD", KEYS[1])
"""


class Keys:
    def __init__(self, namespace, name):
        self.main = f"{namespace}:semaphore_main:{name}"
        self.ttl = f"{namespace}:semaphore_ttl:{name}"
        self.max = f"{namespace}:semaphore_max:{name}"
        self.waiting = f"{namespace}:semaphore_waiting:{name}"
        self.waiting_heartbeat = f"{namespace}:semaphore_waiting_heartbeat:{name}"


class AdvSem:
    def __init__(self, options):
        self._options = options
        self._address = options.socket
        self._heartbeat = options.heartbeat
        self._ttl = NO_TTL if options.ttl == "none" else math.ceil(float(options.ttl))
        self._ping_seconds = options.heartbeat / 5 if options.ping is None else options.ping
        self._notification = f"{options.namespace}:acquisition_notification:{PLACEHOLDER}"
        self.connection = Connection(options.socket)

    def begin(self, name, options):
        claim = Claim(name)
        claim.id = uuid.uuid4().hex
        claim.keys = Keys(self._options.namespace, name)
        claim.limit = int(options.get("limit", 1))
        claim.wait_seconds = float(options["wait"]) if "wait" in options else math.inf
        claim.ended = threading.Event()
        return claim

    def wait(self, claim):
        deadline = time.monotonic() + claim.wait_seconds
        keys = claim.keys
        blocking = Connection(self._address)  # BLPOP blocks its connection
        try:
            self.connection.eval(QUEUE, [keys.waiting, keys.waiting_heartbeat],
                                 [claim.id, self._heartbeat, self._ttl, now()])
            threading.Thread(target=self._ping, args=(claim,), daemon=True).start()
            while not self._notified(claim, blocking, deadline):
                pass
            changed, _ = self.connection.eval(ACQUIRE, [keys.main, keys.ttl, keys.max],
                                              [claim.id, claim.limit, self._heartbeat, self._ttl, now()])
            if changed == 0:
                raise RuntimeError("stale")  # removed as dead since the notification, or the score did not change
        except Silenced:
            raise
        except BaseException:
            self.release(claim)
            raise
        finally:
            blocking.close()

    def release(self, claim):
        claim.ended.set()
        keys = claim.keys
        removed = self.connection.eval(RELEASE, [keys.main, keys.ttl, keys.waiting, keys.waiting_heartbeat],
                                       [claim.id])
        return "" if removed else "not-owner"

    def silence(self, claim):
        pass  # the loops read claim.silent

    def stats(self, name):
        keys = Keys(self._options.namespace, name)
        used = self.connection.eval(CARD, [keys.main, keys.ttl], [now()])
        return used, int(self.connection.call("GET", keys.max) or 0)

    def quit(self, claims):
        # A program that ends cancels its tasks: waiters leave the queue, and held slots are not released.
        for claim in claims:
            if not claim.acquired and not claim.silent.is_set():
                self.release(claim)

    def _notified(self, claim, blocking, deadline):
        keys = claim.keys
        self.connection.eval(WAKE_UP_NEXTS, [keys.main, keys.ttl, keys.waiting, keys.waiting_heartbeat],
                             [claim.limit, self._heartbeat, self._ttl, now(), self._notification])
        seconds = min(BLPOP_SECONDS, deadline - time.monotonic())
        if seconds < 0.001:  # 0 means for ever
            raise TimedOut
        notified = blocking.call("BLPOP", self._notification.replace(PLACEHOLDER, claim.id), f"{seconds:.3f}")
        if claim.silent.is_set():
            raise Silenced
        return notified is not None

    def _ping(self, claim):
        keys = claim.keys
        while not claim.ended.wait(self._ping_seconds) and not claim.silent.is_set():
            try:
                changed = self.connection.eval(PING, [keys.waiting, keys.waiting_heartbeat, keys.main],
                                               [claim.id, self._heartbeat, self._ttl, now()])
            except Exception:
                complain()
                continue
            if changed == [0, 0] and not claim.ended.is_set():
                print(f"{claim.id} was considered dead", file=sys.stderr, flush=True)
                return


def now():
    return f"{time.time():.6f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("socket")
    parser.add_argument("--namespace", default="adv-sem")
    parser.add_argument("--heartbeat", type=int, default=180)
    parser.add_argument("--ttl", default="none")
    parser.add_argument("--ping", type=float)
    Lines(AdvSem(parser.parse_args())).run()


main()
