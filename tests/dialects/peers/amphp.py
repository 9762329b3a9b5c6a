"""Plays the mutex of amphp/redis (PHP): waiters poll, any poll grants a free lock, and there are no notifications.

Written from the mutex design document of amphp/redis and from notes on what its shipped code puts on the wire: no
notices, polling every 5 ms + min(10 ms x position, 300 ms), and on a timeout LREM, then UNLOCK.
Run: amphp.py SOCKET [--prefix ''] [--expiry-ms 3000] [--renew-ms 1000] [--wait-ms 10000]
Lines: acquire TAG NAME [wait=MS] | release TAG | silence TAG | count NAME KEY TIMES | quit. Answers: README.md.
"""

import argparse
import base64
import os
import sys
import threading
import time

sys.dont_write_bytecode = True

from lines import Claim, Lines, Silenced, TimedOut, complain  # noqa: E402
from resp import Connection  # noqa: E402

# A waiter whose lock was granted by another client's poll finds itself as the holder.
LOCK = """
local lock, queue = KEYS[1], KEYS[2]
local token, expiry, queue_expiry = ARGV[1], ARGV[2], ARGV[3]

local function index_of_token()
    for i, queued in ipairs(redis.call("LRANGE", queue, 0, -1)) do
        if queued == token then return i - 1 end
    end
    return nil
end

local holder = redis.call("GET", lock)
if not holder then
    if redis.call("LLEN", queue) == 0 then
        redis.call("SET", lock, token, "PX", expiry)
        return 1
    end
    if not index_of_token() then redis.call("RPUSH", queue, token) end
    local queued = redis.call("LPOP", queue)
    redis.call("SET", lock, queued, "PX", expiry)
    if queued == token then return 2 end
    redis.call("PEXPIRE", queue, queue_expiry)
    return -1 - index_of_token()
end
if holder == token then
    redis.call("SET", lock, token, "PX", expiry)
    return 1
end
local index = index_of_token()
if index then
    redis.call("PEXPIRE", queue, queue_expiry)
    return -1 - index
end
local length = redis.call("RPUSH", queue, token)
redis.call("PEXPIRE", queue, queue_expiry)
return -1 - length
"""

UNLOCK = """
if redis.call("GET", KEYS[1]) == ARGV[1] then
    redis.call("DEL", KEYS[1])
    return 1
end
return 2
"""

RENEW = """
for i, lock in ipairs(KEYS) do
    if redis.call("GET", lock) == ARGV[i + 1] then redis.call("PEXPIRE", lock, ARGV[1]) end
end
"""


class Amphp:
    def __init__(self, options):
        self.connection = Connection(options.socket)
        self._options = options
        self._held = []
        self._mutex = threading.Lock()  # of what is held
        threading.Thread(target=self._renew, daemon=True).start()

    def begin(self, name, options):
        claim = Claim(name)
        claim.token = base64.b64encode(os.urandom(16)).decode()
        claim.lock = f"{self._options.prefix}lock:{name}"
        claim.queue = f"{self._options.prefix}lock-queue:{name}"
        claim.wait_ms = int(options.get("wait", self._options.wait_ms))
        return claim

    def wait(self, claim):
        deadline = time.monotonic() + claim.wait_ms / 1000
        expiry = self._options.expiry_ms
        while True:
            if claim.silent.is_set():
                raise Silenced
            reply = self.connection.eval(LOCK, [claim.lock, claim.queue],
                                         [claim.token, expiry, expiry + claim.wait_ms])
            if reply > 0:
                break
            if time.monotonic() >= deadline:
                # The lock may be granted between these two, and is then released.
                self.connection.call("LREM", claim.queue, 0, claim.token)
                self._unlock(claim)
                raise TimedOut
            position = -1 - reply
            time.sleep((5 + min(10 * position, 300)) / 1000)
        with self._mutex:
            self._held.append(claim)

    def release(self, claim):
        with self._mutex:
            if claim in self._held:
                self._held.remove(claim)
        return "" if self._unlock(claim) == 1 else "not-owner"

    def silence(self, claim):
        pass  # the loops read claim.silent

    def quit(self, claims):
        pass  # locks and queues expire

    def _unlock(self, claim):
        return self.connection.eval(UNLOCK, [claim.lock], [claim.token])

    def _renew(self):
        while True:
            time.sleep(self._options.renew_ms / 1000)
            with self._mutex:
                held = [claim for claim in self._held if not claim.silent.is_set()]
            try:
                if held:
                    self.connection.eval(RENEW, [claim.lock for claim in held],
                                         [self._options.expiry_ms] + [claim.token for claim in held])
            except Exception:
                complain()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("socket")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--expiry-ms", type=int, default=3000)
    parser.add_argument("--renew-ms", type=int, default=1000)
    parser.add_argument("--wait-ms", type=int, default=10000)
    Lines(Amphp(parser.parse_args())).run()


main()
