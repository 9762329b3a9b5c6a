# redis-py's Lock and python-redis-lock as peers: peer.py KIND redis://HOST:PORT/DB, in any order; the lines as in
# ../README.md. KIND: redis-py (polls, does not renew), python-redis-lock (waits by BLPOP, renews in a thread). One name
# at a time, no permits. Commands run in the main thread; another one reads, so that the end of stdin ends us even while
# we wait.
import importlib.metadata
import os
import queue
import re
import sys
import threading
import time

import redis
import redis_lock

EXPIRY = 10
LIBRARIES = {  # kind: package, words after the version, lock
    "redis-py": ("redis", " polls-100ms", lambda server, name: server.lock(name, timeout=EXPIRY)),
    "python-redis-lock": (
        "python-redis-lock",
        "",
        lambda server, name: redis_lock.Lock(server, name, expire=EXPIRY, auto_renewal=True),
    ),
}


class Peer:
    def __init__(self, make_lock):
        self.make_lock = make_lock
        self.held = None
        self.asked = self.acquired = 0
        self.holds = []  # for the next report

    def obey(self, command, *words):
        if command in ("acquire", "cycle") and self.held:
            return "failed already holding"
        if command == "acquire":
            return f"acquired {self.acquired}" if self.acquire(*words) else "failed unsupported"
        if command == "release":
            return "released %d %d" % self.release() if self.held else "failed not holding"
        if command == "cycle":
            return self.cycle(words[0], float(words[1]), int(words[2]) / 1e6)
        if command == "report":
            lines = ["%d %d %d %d" % hold for hold in self.holds]
            self.holds.clear()
            return "\n".join([*lines, "end"])
        return f"failed unknown {command}"

    def acquire(self, *names):
        if len(names) != 1 or re.search(r":\d+/\d+$", names[0]):
            return False
        lock = self.make_lock(names[0])
        self.asked = time.monotonic_ns()
        lock.acquire()
        self.acquired = time.monotonic_ns()
        self.held = lock
        return True

    def release(self):
        lock, self.held = self.held, None
        releasing = time.monotonic_ns()
        lock.release()
        released = time.monotonic_ns()
        self.holds.append((self.asked, self.acquired, releasing, released))
        return releasing, released

    def cycle(self, name, seconds, hold):
        end = time.monotonic() + seconds
        n = 0
        while time.monotonic() < end:
            if not self.acquire(name):
                return "failed unsupported"
            if hold:
                time.sleep(hold)
            self.release()
            n += 1
        return f"cycled {n}"


def read(lines):
    for line in sys.stdin:
        lines.put(line.split())
    os._exit(0)


def main():
    url = next(word for word in sys.argv[1:] if "://" in word)
    kind = next(word for word in sys.argv[1:] if "://" not in word)
    if kind not in LIBRARIES:
        sys.exit(f"unknown kind: {kind}")
    package, polls, make = LIBRARIES[kind]
    # Its default of a few seconds would break off the longer BLPOP by which python-redis-lock waits.
    server = redis.Redis.from_url(url, socket_timeout=None)
    server.ping()
    peer = Peer(lambda name: make(server, name))
    print(f"ready {kind} {importlib.metadata.version(package)}{polls}", flush=True)

    lines = queue.Queue()
    threading.Thread(target=read, args=(lines,), daemon=True).start()
    while (words := lines.get()) != ["quit"]:
        try:
            answer = peer.obey(*words)
        except Exception as error:
            answer = " ".join(f"failed {type(error).__name__} {error}".split())
        print(answer, flush=True)
    os._exit(0)  # Not sys.exit: it would wait for the reader's stdin.


main()
