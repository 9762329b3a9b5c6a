"""Checks that the tests detect faults of the engine or, with --lua, of the function library in the Redis server.

Plants faults in a copy of the tree, one at a time, and runs the unit tests and a short simulation against each. All
named faults (tests/mutants/named.toml) must be killed. A seed draws some of the mechanical faults (a negated condition,
a deleted statement, a number one larger or smaller); tests/mutants/survivors.txt must explain those that survive.

With --lua: plants faults in the text of the function library, and runs the differential test and the tests of the
library against each. The lists are lua_named.toml and lua_survivors.txt.

No faults are drawn from check.cpp, because a weaker check only hides faults, and from protocol.cpp, which is text.
Inspection (inspect.cpp, wait_graph.cpp, inspect.lua) gets one fault in six.

Exit codes: 0 all killed or explained; 1 a fault survived; 2 the script failed.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import threading
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent

import mechanical
import mechanical_lua
from lua_workshop import LuaWorkshop
from workshop import Trouble, Verdict, Workshop

INSPECTION_ONE_IN = 6
PROCESSORS = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Subject:
    """The files in which faults are planted, and the workshop that tests them."""
    named: str
    survivors: str
    decides: list  # files that change the state
    inspects: list  # files that only read the state
    faults_in: object
    workshop: object  # from a folder and the options


def engine_workshop(folder, options):
    return Workshop(ROOT, folder, max(1, PROCESSORS // options.jobs), options.schedules)


def lua_workshop(folder, options):
    return LuaWorkshop(ROOT, folder, options.commands)


ENGINE = Subject(
    "named.toml", "survivors.txt",
    [f"src/engine/{name}" for name in ("admission.cpp", "engine.cpp", "operators.cpp", "reclaim.cpp", "requests.cpp",
                                       "sessions.cpp", "slot_set.hpp", "validate.cpp")],
    ["src/engine/inspect.cpp", "src/protocol/wait_graph.cpp"], mechanical.faults_in, engine_workshop)

LUA_FILES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "src/stores/redis/lua").rglob("*.lua"))
LUA = Subject(
    "lua_named.toml", "lua_survivors.txt",
    [path for path in LUA_FILES if not path.endswith("/inspect.lua")],
    [path for path in LUA_FILES if path.endswith("/inspect.lua")], mechanical_lua.faults_in, lua_workshop)


@dataclass
class Mutant:
    """A fault and its verdict."""
    name: str
    file: str
    where: str  # function, or line
    shown: str
    text: str   # the whole file with the fault
    named: bool
    reason: str = ""  # the explanation if it may survive
    verdict: Verdict = None

    def accepted(self):
        return self.verdict.state == "killed" or bool(self.reason)


# ---- the faults ----

def named_mutants(subject):
    """The named faults of the subject. The text of each must occur in the source."""
    faults = tomllib.loads((FOLDER / subject.named).read_text())["fault"]
    wrong = []
    mutants = []
    for fault in faults:
        text = (ROOT / fault["file"]).read_text()
        found = text.count(fault["old"])
        if found != 1:
            wrong.append(f"  {fault['name']}: its `old` text occurs {found} times instead of once in "
                         f"{fault['file']}: {fault['old']}")
            continue
        line = text[:text.index(fault["old"])].count("\n") + 1
        shown = " ".join((fault["new"].strip() or f"no {fault['old']}").split())
        mutants.append(Mutant(fault["name"], fault["file"], str(line), shown,
                              text.replace(fault["old"], fault["new"]), named=True))
    if len({mutant.name for mutant in mutants}) + len(wrong) != len(faults):
        wrong.append("  two faults have the same name")
    if wrong:
        raise Trouble(f"tests/mutants/{subject.named} does not match the source; correct these faults:\n"
                      + "\n".join(wrong))
    return mutants


def mechanical_mutants(subject, seed):
    """All mechanical faults, in the order of the draw."""
    reasons = survivors(subject)
    drawn = [iter(mechanical.drawn([fault for path in paths
                                    for fault in subject.faults_in(path, (ROOT / path).read_text())], seed))
             for paths in (subject.decides, subject.inspects)]
    known = set()
    mutants = []
    turn = 0
    while drawn:
        turn += 1
        source = drawn[-1] if turn % INSPECTION_ONE_IN == 0 else drawn[0]
        fault = next(source, None)
        if fault is None:
            drawn.remove(source)
            continue
        key = (fault.file, fault.function, fault.shown)
        known.add(key)
        text = fault.applied_to((ROOT / fault.file).read_text())
        mutants.append(Mutant(fault.name, fault.file, fault.function, fault.shown, text, named=False,
                              reason=reasons.get(key, "")))
    for file, function, shown in reasons.keys() - known:
        print(f"{subject.survivors} explains a fault that no longer exists; remove it: {file}:{function}: {shown}",
              file=sys.stderr)
    return mutants


def survivors(subject):
    """(file, function, shown) -> reason, from lines "file:function: shown — reason"."""
    reasons = {}
    for line in (FOLDER / subject.survivors).read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\S+?):(\S+): (.+?) — (.+)", line)
        if match is None:
            raise Trouble(f"tests/mutants/{subject.survivors}: the line is not \"file:function: text — reason\": "
                          f"{line}")
        file, function, shown, reason = match.groups()
        reasons[file, function, shown] = reason
    return reasons


# ---- the run ----

class Run:
    """Distributes the mutants to the workshops: all named ones, and the wanted number of mechanical ones that compile
    and change the code. The choice does not depend on the number of workshops."""

    def __init__(self, named, drawn, wanted):
        self.named = iter(named)
        self.drawn = iter(drawn)
        self.wanted = wanted
        self.total = len(named) + min(wanted, len(drawn))
        self.open = 0  # mechanical ones being judged
        self.decided = []
        self.set_aside = []
        self.trouble = None
        self.started = time.monotonic()
        self.changed = threading.Condition()

    def next(self):
        with self.changed:
            while self.trouble is None:
                if (mutant := next(self.named, None)) is not None:
                    return mutant
                have = sum(not mutant.named for mutant in self.decided)
                if have + self.open < self.wanted and (mutant := next(self.drawn, None)) is not None:
                    self.open += 1
                    return mutant
                if self.open == 0:
                    return None
                self.changed.wait()  # an open mutant may have to be replaced
        return None

    def done(self, mutant, verdict):
        with self.changed:
            mutant.verdict = verdict
            self.open -= not mutant.named
            if mutant.named or verdict.state in ("killed", "survived"):
                self.decided.append(mutant)
            else:
                self.set_aside.append(mutant)
            self.changed.notify_all()
            self.show()

    def fail(self, trouble):
        with self.changed:
            self.trouble = self.trouble or trouble
            self.changed.notify_all()

    def show(self):
        states = [mutant.verdict.state for mutant in self.decided]
        seconds = int(time.monotonic() - self.started)
        line = (f"{len(states)} of {self.total}: {states.count('killed')} killed, {states.count('survived')} survived, "
                f"{len(self.set_aside)} set aside, {seconds // 60}:{seconds % 60:02} min")
        if sys.stderr.isatty():
            print(f"\r{line}", end="", file=sys.stderr, flush=True)
        elif len(self.decided) % 10 == 0:
            print(line, file=sys.stderr, flush=True)


def work(run, subject, folder, options):
    try:
        workshop = subject.workshop(folder, options)
        workshop.prepare()
        while (mutant := run.next()) is not None:
            run.done(mutant, workshop.judge(mutant.file, mutant.text))
    except Exception as trouble:  # the other workshops must stop too
        run.fail(trouble)


def judge(subject, named, drawn, wanted, options):
    run = Run(named, drawn, wanted)
    with tempfile.TemporaryDirectory(prefix="baton-mutants-") as folder:
        workers = [threading.Thread(target=work, args=(run, subject, Path(folder, str(job)), options))
                   for job in range(options.jobs)]
        for job in range(options.jobs):
            Path(folder, str(job)).mkdir()
            workers[job].start()
        try:
            for worker in workers:
                worker.join()
        except KeyboardInterrupt:
            run.fail(Trouble("interrupted"))
            for worker in workers:
                worker.join()
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if run.trouble is not None:
        raise run.trouble
    return run


# ---- the report ----

def print_table(mutants):
    print(f"{'fault':<42} {'where':<34} {'killed by':<58} {'s':>5}")
    for mutant in mutants:
        where = f"{Path(mutant.file).name}:{mutant.where}"
        by = mutant.verdict.by or mutant.verdict.state.upper() + (" (explained)" if mutant.reason else "")
        print(f"{mutant.name:<42} {where:<34} {by:<58} {mutant.verdict.seconds:5.1f}")


def report(run, seconds):
    mutants = sorted(run.decided, key=lambda mutant: not mutant.named)
    print_table(mutants)
    survived = [mutant for mutant in mutants if mutant.verdict.state != "killed"]
    for mutant in survived:
        print(f"\nsurvived: {mutant.name}\n  {mutant.file}:{mutant.where}: {mutant.shown}")
        if mutant.reason:
            print(f"  explained: {mutant.reason}")
    for mutant in mutants:
        if mutant.reason and mutant.verdict.state == "killed":
            print(f"\nkilled although explained as a survivor; remove the explanation: "
                  f"{mutant.file}:{mutant.where}: {mutant.shown}")
    print()
    for kind, chosen in (("named", True), ("mechanical", False)):
        of_kind = [mutant for mutant in mutants if mutant.named is chosen]
        killed = sum(mutant.verdict.state == "killed" for mutant in of_kind)
        explained = sum(mutant.verdict.state != "killed" and bool(mutant.reason) for mutant in of_kind)
        print(f"{kind}: {len(of_kind)}, killed {killed}, survived and explained {explained}, "
              f"survived {len(of_kind) - killed - explained}")
    states = [mutant.verdict.state for mutant in run.set_aside]
    print(f"set aside: {states.count('does not compile')} that do not compile, {states.count('same code')} that make "
          f"the same code\n{seconds / 60:.1f} minutes")
    return all(mutant.accepted() for mutant in mutants)


def as_json(run):
    return [{"name": mutant.name, "kind": "named" if mutant.named else "mechanical", "file": mutant.file,
             "where": mutant.where, "text": mutant.shown, "state": mutant.verdict.state, "by": mutant.verdict.by,
             "explained": mutant.reason, "seconds": round(mutant.verdict.seconds, 1)}
            for mutant in run.decided + run.set_aside]


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lua", action="store_true", help="plant faults in the function library of the Redis store")
    parser.add_argument("--named", action="store_true", help="plant no mechanical faults")
    parser.add_argument("--seed", type=int, default=1, help="seed of the mechanical faults (default 1)")
    parser.add_argument("--mechanical", type=int, default=100, metavar="N",
                        help="number of mechanical faults (default 100)")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="plant only this fault, named or mechanical; repeatable")
    parser.add_argument("--list", action="store_true", help="list the faults and plant none")
    parser.add_argument("--jobs", type=int, default=PROCESSORS, metavar="J",
                        help="faults tested at a time (default: one for each processor; at most 2 with --lua)")
    parser.add_argument("--schedules", type=int, default=300, metavar="N",
                        help="number of schedules of the simulation (default 300)")
    parser.add_argument("--commands", type=int, default=20000, metavar="N",
                        help="number of commands of the differential test (default 20000)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to FILE")
    options = parser.parse_args(arguments)
    if options.jobs < 1 or options.mechanical < 0:
        parser.error("--jobs takes at least 1, --mechanical at least 0")
    if options.lua:
        options.jobs = min(options.jobs, 2)
    if options.named:
        options.mechanical = 0
    return options


def main(arguments):
    options = options_of(arguments)
    subject = LUA if options.lua else ENGINE
    named, drawn, wanted = named_mutants(subject), mechanical_mutants(subject, options.seed), options.mechanical
    if options.only:
        named = [mutant for mutant in named if mutant.name in options.only]
        drawn = [mutant for mutant in drawn if mutant.name in options.only]
        wanted = len(drawn)
        if missing := set(options.only) - {mutant.name for mutant in named + drawn}:
            raise Trouble(f"unknown fault: {', '.join(sorted(missing))}")
    if options.list:
        for mutant in named + drawn[:wanted]:
            print(f"{mutant.name:<42} {mutant.file}:{mutant.where}: {mutant.shown}")
        return 0
    started = time.monotonic()
    run = judge(subject, named, drawn, wanted, options)
    well = report(run, time.monotonic() - started)
    if options.json:
        options.json.write_text(json.dumps(as_json(run), indent=1) + "\n")
    return 0 if well else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Trouble as trouble:
        print(f"mutants: {trouble}", file=sys.stderr)
        sys.exit(2)
