"""Checks that the peers behave as the originals do. Run: selftest.py SOCKET, on a Redis server without other clients.

Each check starts processes of one peer and drives them by lines, see README.md; all checks run at the same time, each
on names of its own. Prints a line per check. Exit codes: 0 all passed; 1 at least one failed; 2 no server.
"""

import base64
import queue
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

sys.dont_write_bytecode = True

from resp import Connection  # noqa: E402

FOLDER = Path(__file__).resolve().parent
LIMIT = 10  # seconds, for each wait
CHECKS = []


class Failed(Exception):
    pass


def require(truth, text):
    if not truth:
        raise Failed(text)


class Process:
    def __init__(self, program, *options):
        self.name = program
        self._process = subprocess.Popen([sys.executable, str(FOLDER / f"{program}.py"), sys.argv[1], *options],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                         text=True, bufsize=1)
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))

    def tell(self, line):
        self._process.stdin.write(line + "\n")

    def hear(self, expected, matches=str.__eq__):
        try:
            line = self._lines.get(timeout=LIMIT)
        except queue.Empty:
            raise Failed(f"{self.name}: nothing came, expected '{expected}'") from None
        require(matches(line, expected), f"{self.name}: '{line}' came, expected '{expected}'")

    def hears_nothing(self, seconds):
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            return
        raise Failed(f"{self.name}: '{line}' came, expected nothing")

    def ask(self, line, expected):
        self.tell(line)
        self.hear(expected)

    def kill(self):
        self._process.kill()
        self._process.wait()

    def wait(self):
        return self._process.wait(LIMIT)


class Bench:
    """The tools of a check: processes that end with it, a connection, and a name of its own."""

    def __init__(self):
        self.name = "self:test:" + uuid.uuid4().hex
        self.redis = Connection(sys.argv[1])
        self._processes = []

    def peers(self, number, program, *options):
        started = [Process(program, *options) for _ in range(number)]
        self._processes += started
        for process in started:
            process.hear("ready")
        return started

    def eventually(self, truth, text):
        deadline = time.monotonic() + LIMIT
        while not truth():
            require(time.monotonic() < deadline, text)
            time.sleep(0.005)

    def end(self):
        for process in self._processes:
            process.kill()


def check(function):
    CHECKS.append(function)
    return function


def hand_over(bench, first, second, queued):
    first.ask(f"acquire A {bench.name}", "acquired A")
    second.tell(f"acquire B {bench.name}")
    bench.eventually(queued, "the second one does not queue")
    second.hears_nothing(0.1)
    first.ask("release A", "released A")
    second.hear("acquired B")
    second.ask("release B", "released B")


def count(bench, processes):
    key = f"{bench.name}:count"
    for process in processes:
        process.tell(f"count {bench.name} {key} 20")
    for process in processes:
        process.hear(f"counted {bench.name}")
    value = bench.redis.call("GETDEL", key)
    require(value == "60", f"counted to {value}, not to 60")


# amphp

AMPHP_SHORT = ("--expiry-ms", "400", "--renew-ms", "100", "--wait-ms", "900")


@check
def amphp_hands_over(bench):
    first, second = bench.peers(2, "amphp", "--prefix", "p:")
    queued = f"p:lock-queue:{bench.name}"
    hand_over(bench, first, second, lambda: bench.redis.call("LLEN", queued) == 1)
    first.ask(f"acquire C {bench.name}", "acquired C")
    token = bench.redis.call("GET", f"p:lock:{bench.name}")
    require(len(base64.b64decode(token, validate=True)) == 16, f"a strange token {token}")
    require(2000 < bench.redis.call("PTTL", f"p:lock:{bench.name}") <= 3000, "a strange expiry")
    bench.redis.call("DEL", f"p:lock:{bench.name}")
    first.ask("release C", "released C not-owner")


@check
def amphp_counts(bench):
    count(bench, bench.peers(3, "amphp"))


@check
def amphp_times_out_while_the_lock_is_renewed(bench):
    first, second = bench.peers(2, "amphp", *AMPHP_SHORT)
    first.ask(f"acquire A {bench.name}", "acquired A")
    second.ask(f"acquire B {bench.name}", "timeout B")
    require(bench.redis.call("EXISTS", f"lock-queue:{bench.name}") == 0, "its token stayed in the queue")
    first.ask("release A", "released A")
    require(bench.redis.call("EXISTS", f"lock:{bench.name}") == 0, "the lock stayed")


@check
def amphp_dead_and_silent_holders_expire(bench):
    first, second, third = bench.peers(3, "amphp", *AMPHP_SHORT)
    first.ask(f"acquire A {bench.name}", "acquired A")
    second.tell(f"acquire B {bench.name}")
    first.kill()
    second.hear("acquired B")
    second.ask("silence B", "silenced B")
    third.ask(f"acquire C {bench.name}", "acquired C")
    second.ask("release B", "released B not-owner")
    third.ask("release C", "released C")


# redturn

REDTURN_KINDS = (("new", "ts"), ("old", "ts"), ("new", "erlang"), ("old", "erlang"))


@check
def redturn_hands_over(bench):
    for notices, arguments in REDTURN_KINDS:
        first, second = bench.peers(2, "redturn", "--notices", notices, "--arguments", arguments)
        hand_over(bench, first, second, lambda: bench.redis.call("LLEN", bench.name) == 2)
        require(bench.redis.call("EXISTS", bench.name) == 0, "the list is not empty")


@check
def redturn_counts(bench):
    count(bench, bench.peers(3, "redturn"))


@check
def redturn_holders_time_out(bench):
    first, second = bench.peers(2, "redturn", "--timeout-ms", "300")
    first.ask(f"acquire A {bench.name}", "acquired A")
    element = bench.redis.call("LINDEX", bench.name, 0).split(":")
    require(len(element) == 3 and len(element[1]) == 32 and element[2] == "300", f"a strange element {element}")
    # A holder without waiters removes its own element, and notices it only by the error of its REMOVE.
    bench.eventually(lambda: bench.redis.call("EXISTS", bench.name) == 0, "it holds beyond its timeout")
    first.tell("release A")
    first.hear("released A error ", str.startswith)
    # A holder that hangs is removed by the waiter, and its late REMOVE has no effect.
    first.ask(f"acquire B {bench.name}", "acquired B")
    first.ask("silence B", "silenced B")
    second.ask(f"acquire C {bench.name} timeout=5000", "acquired C")
    first.ask("release B", "released B")
    require(bench.redis.call("LLEN", bench.name) == 1, "a late release removed another's element")
    second.ask("release C", "released C")


@check
def redturn_dead_holders_and_waiters_are_removed_in_order(bench):
    first, second, third = bench.peers(3, "redturn", "--timeout-ms", "300")
    first.ask(f"acquire A {bench.name}", "acquired A")
    second.tell(f"acquire B {bench.name}")
    bench.eventually(lambda: bench.redis.call("LLEN", bench.name) == 2, "the second one does not queue")
    third.tell(f"acquire C {bench.name}")
    bench.eventually(lambda: bench.redis.call("LLEN", bench.name) == 3, "the third one does not queue")
    first.kill()
    second.kill()
    third.hear("acquired C")
    third.ask("release C", "released C")


@check
def redturn_refreshes(bench):
    (only,) = bench.peers(1, "redturn", "--timeout-ms", "600")
    only.ask(f"acquire A {bench.name}", "acquired A")
    before = bench.redis.call("LINDEX", bench.name, 0).split(":")
    for _ in range(4):
        time.sleep(0.2)
        only.ask("refresh A", "refreshed A")
    after = bench.redis.call("LINDEX", bench.name, 0).split(":")
    require(before[0] != after[0] and before[1:] == after[1:], f"{before} became {after}")
    bench.redis.call("LSET", bench.name, 0, "other:channel:100")
    only.ask("refresh A", "failed A")
    require(bench.redis.call("LINDEX", bench.name, 0) == "other:channel:100", "the head was changed")
    bench.redis.call("DEL", bench.name)


@check
def redturn_believes_any_notice(bench):
    first, second = bench.peers(2, "redturn")
    first.ask(f"acquire A {bench.name}", "acquired A")
    second.tell(f"acquire B {bench.name}")
    bench.eventually(lambda: bench.redis.call("LLEN", bench.name) == 2, "the second one does not queue")
    claim_id, channel, _ = bench.redis.call("LINDEX", bench.name, 1).split(":")
    bench.redis.call("PUBLISH", channel, f"{claim_id}:{bench.name}")
    second.hear("acquired B")
    bench.redis.call("DEL", bench.name)


# adv-sem

ADV_SEM_SHORT = ("--heartbeat", "1")


def nothing_remains(bench):
    keys = [key for key in bench.redis.call("KEYS", f"adv-sem:*{bench.name}*") if ":semaphore_max:" not in key]
    require(not keys, f"{keys} remain")


@check
def adv_sem_hands_over(bench):
    first, second = bench.peers(2, "adv_sem")
    waiting = f"adv-sem:semaphore_waiting:{bench.name}"
    hand_over(bench, first, second, lambda: bench.redis.call("ZCARD", waiting) == 1)
    nothing_remains(bench)


@check
def adv_sem_counts(bench):
    count(bench, bench.peers(3, "adv_sem"))
    nothing_remains(bench)


@check
def adv_sem_slots_and_timeout(bench):
    first, second = bench.peers(2, "adv_sem", *ADV_SEM_SHORT)
    first.ask(f"stats {bench.name}", f"stats {bench.name} 0 0")
    first.ask(f"acquire A {bench.name} limit=2", "acquired A")
    second.ask(f"acquire B {bench.name} limit=2", "acquired B")
    second.ask(f"acquire C {bench.name} limit=2 wait=1.5", "timeout C")
    first.ask(f"stats {bench.name}", f"stats {bench.name} 2 2")
    first.ask("release A", "released A")
    second.ask("release B", "released B")
    first.ask(f"stats {bench.name}", f"stats {bench.name} 0 2")
    nothing_remains(bench)


@check
def adv_sem_dead_and_silent_holders_expire(bench):
    first, second, third = bench.peers(3, "adv_sem", *ADV_SEM_SHORT)
    first.ask(f"acquire A {bench.name}", "acquired A")
    second.tell(f"acquire B {bench.name}")
    first.kill()
    second.hear("acquired B")
    second.ask("silence B", "silenced B")
    third.ask(f"acquire C {bench.name}", "acquired C")
    second.ask("release B", "released B not-owner")
    third.ask("release C", "released C")
    # A holder that is purged for lack of pings keeps its member in the ttl key until its ttl: A was never released.
    require(bench.redis.call("ZCARD", f"adv-sem:semaphore_ttl:{bench.name}") == 1, "the ttl key is not as expected")


@check
def adv_sem_ttl_frees_the_slot_of_a_living_holder(bench):
    first, second = bench.peers(2, "adv_sem", "--ttl", "1")
    first.ask(f"acquire A {bench.name}", "acquired A")
    second.ask(f"acquire B {bench.name}", "acquired B")
    first.ask("release A", "released A not-owner")
    second.ask("release B", "released B")
    nothing_remains(bench)


@check
def adv_sem_waiters_leave_when_it_quits(bench):
    first, second = bench.peers(2, "adv_sem")
    first.ask(f"acquire A {bench.name}", "acquired A")
    second.tell(f"acquire B {bench.name}")
    waiting = f"adv-sem:semaphore_waiting:{bench.name}"
    bench.eventually(lambda: bench.redis.call("ZCARD", waiting) == 1, "the second one does not queue")
    second.tell("quit")
    require(second.wait() == 0, "it does not end well")
    require(bench.redis.call("ZCARD", waiting) == 0, "it is still queued")
    first.ask("release A", "released A")


# lines


@check
def lines_that_make_no_sense_are_unknown(bench):
    for program in ("amphp", "redturn", "adv_sem"):
        (only,) = bench.peers(1, program)
        for line in ("hello", "release A", "acquire A", f"acquire A {bench.name} nonsense", "silence A"):
            only.ask(line, f"unknown {line}")
        only.tell("quit")
        require(only.wait() == 0, "it does not end well")


def main():
    if len(sys.argv) != 2:
        sys.exit("Run: selftest.py SOCKET")
    try:
        Connection(sys.argv[1]).call("PING")
    except OSError as error:
        print(f"no server at {sys.argv[1]}: {error}")
        sys.exit(2)
    failed = []

    def run(function):
        bench = Bench()
        try:
            function(bench)
            print(f"ok {function.__name__}", flush=True)
        except Exception as error:
            failed.append(function)
            print(f"FAILED {function.__name__}: {error or type(error).__name__}", flush=True)
        finally:
            bench.end()

    threads = [threading.Thread(target=run, args=(function,)) for function in CHECKS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.exit(1 if failed else 0)


main()
