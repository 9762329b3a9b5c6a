"""Plays redturn, in Erlang and in TypeScript: a list per resource, whose head holds it, and notifications by PUBLISH.

Written from the READMEs of both and from notes on what their newest code puts on the wire. A waiter accepts every
notification and nothing else as a grant, each client that knows the head has a timer for it, and REMOVE on an empty
list is an error.
Run: redturn.py SOCKET [--timeout-ms 5000] [--notices new|old] [--arguments ts|erlang]
Lines: acquire TAG NAME [timeout=MS] | release TAG | refresh TAG | silence TAG | count NAME KEY TIMES | quit.
Answers: README.md.
"""

import argparse
import os
import re
import sys
import threading

sys.dont_write_bytecode = True

from lines import Claim, Lines, Silenced, complain  # noqa: E402
from resp import Connection, ReplyError, Subscriber  # noqa: E402

# NOTICE(id) and MATCHES are replaced by the text of the program that is played.
ADD = """
local list = KEYS[1]
local channel = ARGV[1]
local value = ARGV[2]
local id = ARGV[3]

if redis.call("RPUSH", list, value) == 1 then
    redis.call("PUBLISH", channel, NOTICE(id))
end

return redis.call("LINDEX", list, 0)
"""

# On an empty list `value` is false and cannot be concatenated, an error of the originals.
SPLIT_HEAD = """
local list = KEYS[1]
local value = redis.call("LINDEX", list, 0)
local val_split = {}
for w in (value .. ":"):gmatch("([^:]*):") do
    table.insert(val_split, w)
end
"""

REMOVE = SPLIT_HEAD + """
local called = false
if MATCHES then
    redis.call("LPOP", list)
    called = true
end

local next = redis.call("LINDEX", list, 0)
if next ~= false and called == true then
    local next_split = {}
    for w in (next .. ":"):gmatch("([^:]*):") do
        table.insert(next_split, w)
    end
    local next_id = next_split[1]
    local next_channel = next_split[2]
    redis.call("PUBLISH", next_channel, NOTICE(next_id))
end

return next
"""
MATCHES = {"ts": "val_split[1] == ARGV[1] and val_split[2] == ARGV[2]", "erlang": "val_split[1] == ARGV[1]"}

REFRESH = SPLIT_HEAD + """
if val_split[1] == ARGV[2] and val_split[2] == ARGV[1] then
    redis.call("LSET", list, 0, ARGV[4])
    return ARGV[4]
end
return nil
"""


class Redturn:
    def __init__(self, options):
        self._options = options
        self._channel = os.urandom(16).hex()
        self._add = self._with_notice(ADD)
        self._remove = self._with_notice(REMOVE.replace("MATCHES", MATCHES[options.arguments]))
        self._mutex = threading.RLock()  # guards all members below
        self._waiting = {}  # claims by (resource, id)
        self._timers = {}  # by resource: its head and the timer for it
        self._silent = set()  # resources whose heads have no timer any more
        self.connection = Connection(options.socket)
        Subscriber(options.socket, self._channel, self._on_notice)

    def begin(self, name, options):
        claim = Claim(name)
        claim.timeout_ms = int(options.get("timeout", self._options.timeout_ms))
        claim.granted = threading.Event()
        claim.id = os.urandom(16).hex()
        return claim

    def wait(self, claim):
        with self._mutex:
            self._waiting[claim.name, claim.id] = claim  # before the call: the notification may arrive before the reply
        # A head with this client's id is no grant; only the notification is.
        self._learn(claim.name, self.connection.eval(
            self._add, [claim.name], [self._channel, self._element(claim), claim.id]))
        claim.granted.wait()  # for ever: the originals cannot time out
        if claim.silent.is_set():
            raise Silenced

    def release(self, claim):
        with self._mutex:
            self._waiting.pop((claim.name, claim.id), None)
            self._silent.discard(claim.name)
        try:
            self._learn(claim.name, self._call_remove(claim.name, claim.id, self._channel))
        except ReplyError as error:
            return "error " + " ".join(str(error).split())
        return ""  # the reply of REMOVE does not show whether it removed the element

    def refresh(self, claim):
        new_id = os.urandom(16).hex()
        new_value = self._element(claim, new_id)
        try:
            reply = self.connection.eval(REFRESH, [claim.name], [self._channel, claim.id, new_id, new_value])
        except ReplyError:
            return False
        if reply is None:
            return False
        claim.id = new_id
        self._learn(claim.name, reply)
        return True

    def silence(self, claim):
        with self._mutex:
            self._waiting.pop((claim.name, claim.id), None)
            self._silent.add(claim.name)
            self._stop_timer(claim.name)
        claim.granted.set()  # ends the waiting thread

    def quit(self, claims):
        pass  # the elements stay in their lists until other clients remove them

    def _on_notice(self, notice):
        if self._options.notices == "new":
            claim_id, _, resource = notice.partition(":")
        else:
            resource, _, claim_id = notice.rpartition(":")
        with self._mutex:
            claim = self._waiting.pop((resource, claim_id), None)
            if claim is None:
                return
            self._learn(resource, self._element(claim))
        claim.granted.set()

    def _learn(self, resource, head):
        """Starts a timer for the head. The timer of a head that is known already is not changed."""
        with self._mutex:
            if resource in self._timers and self._timers[resource][0] == head:
                return
            self._stop_timer(resource)
            if head is None or resource in self._silent:
                return
            try:
                timeout_ms = int(head.split(":")[2])
            except (IndexError, ValueError):
                complain()
                return
            timer = threading.Timer(timeout_ms / 1000, self._expire, (resource, head))
            timer.daemon = True
            self._timers[resource] = (head, timer)
            timer.start()

    def _expire(self, resource, head):
        with self._mutex:
            if self._timers.get(resource, (None,))[0] != head:
                return
            del self._timers[resource]
        claim_id, channel, _ = head.split(":", 2)
        try:
            self._learn(resource, self._call_remove(resource, claim_id, channel))
        except Exception:
            complain()  # usually because the list is empty

    def _stop_timer(self, resource):
        _, timer = self._timers.pop(resource, (None, None))
        if timer is not None:
            timer.cancel()

    def _call_remove(self, resource, claim_id, channel):
        arguments = [claim_id, channel] if self._options.arguments == "ts" else [claim_id]
        return self.connection.eval(self._remove, [resource], arguments)

    def _element(self, claim, claim_id=None):
        return f"{claim_id or claim.id}:{self._channel}:{claim.timeout_ms}"

    def _with_notice(self, script):
        forms = {"new": r'\1 .. ":" .. list', "old": r'list .. ":" .. \1'}
        return re.sub(r"NOTICE\((\w+)\)", forms[self._options.notices], script)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("socket")
    parser.add_argument("--timeout-ms", type=int, default=5000)
    parser.add_argument("--notices", choices=("new", "old"), default="new")
    parser.add_argument("--arguments", choices=("ts", "erlang"), default="ts")
    Lines(Redturn(parser.parse_args())).run()


main()
