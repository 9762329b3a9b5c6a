#!/usr/bin/env python3
"""A storm of faults on one machine, judged by the kernel.

Shell loops run commands under `baton run` with one agent, while random processes (baton, its guardian, the command, the
agent) are killed or stopped, alone and in pairs. Each command takes a flock(2) that its child processes inherit: if the
flock is taken, a process of an earlier holder is still alive, and the command exits with 99.

With --guardians, commands ignore SIGTERM and never end by themselves; each is ended at its --max-hold or by a
revocation, mostly while its guardian is stopped.

At the end all stopped processes continue, each loop must be granted its lock once more, and no process may remain.
Exit codes: 0 passed; 1 two holders, a loop without a grant, or a process that remains; 64 usage error.
"""
import argparse
import collections
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

OVERLAP = 99


def children_of(process):
    """The direct children of all threads of a process; none if the process has ended."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", encoding="ascii") as file:
                found += [int(child) for child in file.read().split()]
    except OSError:
        pass
    return found


def send(process, number):
    """False if the process has ended."""
    try:
        os.kill(process, number)
        return True
    except (ProcessLookupError, PermissionError):
        return False


def marked(mark):
    """All processes with the storm's mark in their environment."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(name))
        except OSError:
            continue
    return found


class Loop(threading.Thread):
    """One shell loop: repeatedly runs the command under the lock."""

    def __init__(self, storm, number):
        super().__init__(daemon=True)
        self.storm, self.number = storm, number
        self.current = None  # the process id of baton while it runs
        self.served_after_the_storm = False

    def run(self):
        while not self.storm.over.is_set():
            calm = self.storm.calm.is_set()
            code = self.run_once()
            self.storm.count(code)
            if calm and code == self.storm.undisturbed:
                self.served_after_the_storm = True
                return

    def run_once(self):
        name = f"name-{self.number % self.storm.options.names}"
        file = os.path.join(self.storm.folder, name + ".flock")
        # Two children, one of them in its own session: each holds the flock while it lives.
        if self.storm.options.guardians:
            limits = ["--max-hold", f"{int(self.storm.ttl_s * 1000 * self.storm.dice.uniform(0.5, 2))}ms"]
            work = f"trap '' TERM; echo $BATON_FENCE >{file}.fence; setsid sleep 60 & sleep 60"
        else:
            limits = []
            work = f"setsid sleep 0.0{self.storm.dice.randint(1, 4)} & sleep 0.0{self.storm.dice.randint(1, 4)}; wait"
        command = [self.storm.options.program, "run", "-q", "-l", name, "-t", self.storm.ttl, *limits, "--",
                   "flock", "-n", "-E", str(OVERLAP), file, "sh", "-c", work]
        process = subprocess.Popen(command, env=self.storm.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        self.current = process.pid
        # Waits for baton and not for the end of the pipe, which remaining processes of a killed tree may keep open.
        code = process.wait()
        self.current = None
        if code == OVERLAP:
            self.storm.overlaps.append(f"{time.time():.3f} {name} ttl {self.storm.ttl}")
        process.stderr.close()
        return code


class Storm:
    def __init__(self, options, ttl, seed):
        self.options, self.ttl, self.seed = options, ttl, seed
        self.ttl_s = float(ttl.removesuffix("ms")) / 1000 if ttl.endswith("ms") else float(ttl.removesuffix("s"))
        self.dice = random.Random(seed)
        self.calm, self.over = threading.Event(), threading.Event()
        self.overlaps, self.codes, self.faults = [], collections.Counter(), collections.Counter()
        self.lock = threading.Lock()
        self.stopped = {}  # process -> the time at which it continues
        self.last = {}  # what a fault takes -> the time of the last such fault
        self.postponed = None  # the next fault
        self.undisturbed = 124 if options.guardians else 0  # the exit code of a run without a fault
        self.tmp = tempfile.TemporaryDirectory(prefix="baton-storm-")
        self.folder = self.tmp.name
        self.address = f"local:{self.folder}/agent"
        self.mark = f"BATON_STORM={os.path.basename(self.folder)}"
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.folder, "BATON_URL": self.address,
                            "BATON_STORM": os.path.basename(self.folder)}
        self.loops = [Loop(self, number) for number in range(options.loops)]

    def count(self, code):
        with self.lock:
            self.codes[code] += 1

    def agent(self):
        """The process that serves the socket file; None if there is none."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(0.2)
            try:
                client.connect(f"{self.folder}/agent")
                found = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
                return struct.unpack("3i", found)[0]
            except OSError:
                return None

    def stop_for_a_while(self, process):
        if process and process not in self.stopped and send(process, signal.SIGSTOP):
            self.stopped[process] = time.monotonic() + self.dice.uniform(0, 2.5 * self.ttl_s)
            return True
        return False

    def continue_what_is_due(self, everything=False):
        for process, due in list(self.stopped.items()):
            if everything or time.monotonic() >= due:
                send(process, signal.SIGCONT)
                del self.stopped[process]

    def revoke(self, name):
        """Revokes the name from its present holder."""
        try:
            with open(os.path.join(self.folder, f"{name}.flock.fence"), encoding="ascii") as file:
                fence = file.read().strip()
        except OSError:
            return False
        done = subprocess.run([self.options.program, "revoke", name, "--fence", fence], env=self.environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return done.returncode == 0

    def fault(self):
        """Makes one fault, if there is a process for it."""
        loop = self.dice.choice(self.loops)
        baton = loop.current
        if baton is None:
            return
        guardian = next(iter(children_of(baton)), None)
        command = next(iter(children_of(guardian)), None) if guardian else None
        if self.options.guardians:
            if command and self.stop_for_a_while(guardian):
                self.faults["stop guardian"] += 1
                if self.dice.random() < 0.5 and self.revoke(f"name-{loop.number % self.options.names}"):
                    self.faults["revoke"] += 1
            return
        kinds = {
            "kill baton": lambda: send(baton, signal.SIGKILL),
            "kill guardian": lambda: guardian and send(guardian, signal.SIGKILL),
            "kill command": lambda: command and send(command, signal.SIGKILL),
            "kill baton and guardian": lambda: guardian and send(baton, signal.SIGKILL)
            and send(guardian, signal.SIGKILL),
            "kill guardian and baton": lambda: guardian and send(guardian, signal.SIGKILL)
            and send(baton, signal.SIGKILL),
            "interrupt baton": lambda: send(baton, signal.SIGINT),
            "terminate baton": lambda: send(baton, signal.SIGTERM),
            "stop baton": lambda: self.stop_for_a_while(baton),
            "stop guardian": lambda: self.stop_for_a_while(guardian),
            "stop command": lambda: self.stop_for_a_while(command),
            "stop baton, kill guardian": lambda: guardian and self.stop_for_a_while(baton)
            and send(guardian, signal.SIGKILL),
            "stop guardian, kill baton": lambda: self.stop_for_a_while(guardian) and send(baton, signal.SIGKILL),
            "kill agent": lambda: send(self.agent() or 0, signal.SIGKILL) if self.agent() else None,
            "stop agent": lambda: self.stop_for_a_while(self.agent()),
        }
        # Faults of the agent are rarer, because they delay all loops.
        weights = [1 if "agent" in kind else 8 for kind in kinds]
        kind = self.postponed or self.dice.choices(list(kinds), weights)[0]
        if self.may_kill_all_three(kind):
            return
        self.postponed = None
        if kinds[kind]():
            self.faults[kind] += 1
            self.last[self.target_of(kind)] = time.monotonic()

    @staticmethod
    def target_of(kind):
        """Whether a fault takes the agent, baton together with its guardian, or another process."""
        if "agent" in kind:
            return "agent"
        return "both" if "baton" in kind and "guardian" in kind else "one"

    def may_kill_all_three(self, kind):
        """If baton, its guardian and the agent are all killed, nothing is left that could end the command before the
        next one (docs/run.md, "What may be left running"). So such faults are apart from each other. Those of the agent
        are postponed, because the others are frequent."""
        target = self.target_of(kind)
        other = {"agent": "both", "both": "agent"}.get(target)
        is_close = other in self.last and time.monotonic() - self.last[other] < 2 * self.ttl_s
        self.postponed = kind if is_close and target == "agent" else None
        return is_close

    def run(self):
        subprocess.run([self.options.program, "agent", "--address", self.address, "--max-ttl-ms",
                        str(int(self.ttl_s * 1000))], env=self.environment, check=True)
        for loop in self.loops:
            loop.start()
        wanted, begun, shown = self.options.faults, time.monotonic(), 0.0
        while sum(self.faults.values()) < wanted:
            self.continue_what_is_due()
            self.fault()
            time.sleep(self.dice.expovariate(self.options.rate))  # sets the rate of faults
            if time.monotonic() - shown > 1:
                shown = time.monotonic()
                self.progress(wanted)
            if self.overlaps and self.options.fail_fast:
                break
        self.progress(wanted, end="\n")
        return self.judge(time.monotonic() - begun)

    def progress(self, wanted, end=""):
        if sys.stderr.isatty() or end:
            print(f"\rstorm: ttl {self.ttl}, seed {self.seed}: {sum(self.faults.values())} of {wanted} faults, "
                  f"{sum(self.codes.values())} runs, {self.codes[self.undisturbed]} undisturbed, {len(self.overlaps)} overlaps ",
                  end=end, file=sys.stderr, flush=True)

    def judge(self, took):
        """After the storm: every loop was granted its lock, no process remains, and no two commands held one name."""
        self.continue_what_is_due(everything=True)
        self.calm.set()
        deadline = time.monotonic() + 60 + 10 * self.ttl_s
        for loop in self.loops:
            loop.join(max(0.1, deadline - time.monotonic()))
        unserved = [loop.number for loop in self.loops if not loop.served_after_the_storm]
        self.over.set()
        agent = self.agent()
        left = []
        while time.monotonic() < deadline:
            left = [process for process in marked(self.mark) if process != agent]
            if not left:
                break
            time.sleep(0.05)  # a poll, with a deadline
        commands = {process: self.command_line(process) for process in left}
        if agent:
            send(agent, signal.SIGTERM)
        for process in left:
            send(process, signal.SIGKILL)
        print(f"storm: ttl {self.ttl}, seed {self.seed}: {sum(self.faults.values())} faults in {took:.0f} s, "
              f"{sum(self.codes.values())} runs, {self.codes[self.undisturbed]} undisturbed, overlaps: {len(self.overlaps)}")
        print("    faults: " + ", ".join(f"{count} {kind}" for kind, count in self.faults.most_common()))
        print("    exit codes: " + ", ".join(f"{code}: {count}" for code, count in self.codes.most_common()))
        for each in self.overlaps[:10]:
            print(f"    two holders: {each}")
        if unserved:
            print(f"    loops without a grant after the storm: {unserved}")
        for process, text in commands.items():
            print(f"    remaining process {process}: {text}")
        self.tmp.cleanup()
        return not self.overlaps and not unserved and not left

    @staticmethod
    def command_line(process):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            return "has ended by now"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="path of the program baton")
    parser.add_argument("--faults", type=int, default=2500, help="number of faults for each ttl (default 2500)")
    parser.add_argument("--loops", type=int, default=20, help="number of shell loops (default 20)")
    parser.add_argument("--names", type=int, default=4, help="number of names that the loops share (default 4)")
    parser.add_argument("--ttl", default="500ms,2s", help="one or several ttls (default 500ms,2s)")
    parser.add_argument("--rate", type=float, default=10, help="faults per second (default 10)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randint(1, 1 << 30),
                        help="seed of the faults (default: random)")
    parser.add_argument("--guardians", action="store_true",
                        help="stop guardians only; commands must be killed at --max-hold or by a revocation")
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first overlap")
    options = parser.parse_args()
    fine = True
    for ttl in options.ttl.split(","):
        fine = Storm(options, ttl, options.seed).run() and fine
    sys.exit(0 if fine else 1)


main()
