"""The line protocol of the peers: orders on stdin, replies on stdout. README.md lists both.

A peer implements `begin`, `wait` and `release`; this file has the tags, the threads and the parser.
`begin` returns a claim at once, and `wait` blocks until the claim is granted.
"""

import os
import sys
import threading


class TimedOut(Exception):
    """The wait timed out."""


class Silenced(Exception):
    """The waiter plays a program that hangs: it does nothing more."""


class Claim:
    """One acquisition, from `acquire` to `release`. A peer adds the fields of its protocol."""

    def __init__(self, name):
        self.name = name
        self.acquired = False
        self.silent = threading.Event()


class Lines:
    def __init__(self, peer):
        self._peer = peer
        self._claims = {}  # by tag
        self._mutex = threading.Lock()  # guards tags and stdout: no order comes between a reply and its tag

    def run(self):
        self._say("ready")
        for line in sys.stdin:
            words = line.split()
            if not words:
                continue
            order = getattr(self, "_order_" + words[0], None)
            try:
                understood = order is not None and order(*words[1:])
            except Exception as error:
                self._say(" ".join(["failed", *words[1:2], _reason(error)]))
            else:
                if not understood:
                    self._say("unknown " + line.strip())
        self._end()

    # An order returns false if its arguments are wrong.

    def _order_acquire(self, *words):
        options = _options(words[2:])
        if len(words) < 2 or options is None:
            return False
        with self._mutex:
            taken = words[0] in self._claims
            if not taken:
                claim = self._claims[words[0]] = self._peer.begin(words[1], options)
        if taken:
            self._say(f"failed {words[0]} tag-in-use")
        else:
            _in_thread(self._acquire, words[0], claim)
        return True

    def _order_release(self, *words):
        claim = self._held(words)
        if claim is None:
            return False
        del self._claims[words[0]]
        self._say(f"released {words[0]} {self._peer.release(claim)}".strip())
        return True

    def _order_refresh(self, *words):
        claim = self._held(words)
        if claim is None or not hasattr(self._peer, "refresh"):
            return False
        self._say(("refreshed " if self._peer.refresh(claim) else "failed ") + words[0])
        return True

    def _order_silence(self, *words):
        with self._mutex:
            claim = self._claims.get(words[0]) if len(words) == 1 else None
            if claim is None:
                return False
            claim.silent.set()
        self._peer.silence(claim)
        self._say(f"silenced {words[0]}")
        return True

    def _order_stats(self, *words):
        if len(words) != 1 or not hasattr(self._peer, "stats"):
            return False
        used, limit = self._peer.stats(words[0])
        self._say(f"stats {words[0]} {used} {limit}")
        return True

    def _order_count(self, *words):
        options = _options(words[3:])
        if len(words) < 3 or not words[2].isdigit() or options is None:
            return False
        _in_thread(self._count, words[0], words[1], int(words[2]), options)
        return True

    def _order_quit(self, *words):
        if words:
            return False
        with self._mutex:
            claims = list(self._claims.values())
        self._peer.quit(claims)
        self._end()

    def _acquire(self, tag, claim):
        try:
            self._peer.wait(claim)
            answer, acquired = f"acquired {tag}", True
        except Silenced:
            return  # the tag stays in use
        except TimedOut:
            answer, acquired = f"timeout {tag}", False
        except Exception as error:
            answer, acquired = f"failed {tag} {_reason(error)}", False
        with self._mutex:
            if claim.silent.is_set():
                return
            claim.acquired = acquired
            if not acquired:
                del self._claims[tag]
            _write(answer)

    def _count(self, name, key, times, options):
        try:
            for _ in range(times):
                claim = self._peer.begin(name, options)
                self._peer.wait(claim)
                # GET and SET and not INCR, so that two holders at the same time lose a count.
                value = int(self._peer.connection.call("GET", key) or 0)
                self._peer.connection.call("SET", key, value + 1)
                self._peer.release(claim)
        except Exception as error:
            self._say(f"failed {name} {_reason(error)}")
        else:
            self._say(f"counted {name}")

    def _held(self, words):
        """The claim if it may be released: it is granted, or silenced (a program that hung and continues too late)."""
        claim = self._claims.get(words[0]) if len(words) == 1 else None
        return claim if claim is not None and (claim.acquired or claim.silent.is_set()) else None

    def _say(self, line):
        with self._mutex:
            _write(line)

    def _end(self):
        os._exit(0)  # at once: joins no thread and releases nothing


def _write(line):
    try:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    except OSError:
        os._exit(0)  # stdout is closed


def _options(words):
    pairs = [word.partition("=") for word in words]
    return {key: value for key, _, value in pairs} if all(equals for _, equals, _ in pairs) else None


def _reason(error):
    if isinstance(error, TimedOut):
        return "timeout"
    return " ".join(str(error).split()) or type(error).__name__


def _in_thread(function, *arguments):
    threading.Thread(target=function, args=arguments, daemon=True).start()


def complain():
    """Writes the error that an original would log to stderr."""
    print(_reason(sys.exc_info()[1]), file=sys.stderr, flush=True)
