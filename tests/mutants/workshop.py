"""A copy of the tree in which faults are planted, built and tested, one at a time."""

import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

UNIT = "tests/unit/unit_tests"
SIMULATE = "tests/sim/simulate"

FLAGS = "-O1 -D_GLIBCXX_ASSERTIONS -Werror=return-type"  # quick to build; assertions are part of the tests
# Limits, because a fault may run or allocate without end. Seconds are of processor time, so that they do not depend on
# the load of the machine.
UNIT_SECONDS = 30
SIMULATE_SECONDS = 60
MEMORY = 2 << 30


class Trouble(Exception):
    """The script failed."""


@dataclass
class Verdict:
    state: str  # killed, survived, does not compile, same code
    by: str = ""
    seconds: float = 0.0


def run_limited(command, output, seconds=None, timeout=20, environment=None):
    """Returns the exit code, negative for a signal; None after a timeout of `seconds` of processor time or `timeout`
    times as many seconds of real time. `output` is the file for the output."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    with open(output, "wb") as file:
        try:
            code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                  timeout=None if seconds is None else timeout * seconds, preexec_fn=limit,
                                  env=environment, check=False).returncode
        except subprocess.TimeoutExpired:
            return None
    return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code


class Runner:
    """Runs programs with their output in a file, and finds the failure in it."""

    def __init__(self, output):
        self.output = output

    def _run(self, command, seconds=None, **options):
        return run_limited(command, self.output, seconds, **options)

    def _need(self, command):
        if self._run(command) != 0:
            raise Trouble(f"failed: {' '.join(map(str, command))}\n{self._tail()}")

    def _text(self):
        return self.output.read_text(errors="replace")

    def _tail(self):
        return "\n".join(self._text().splitlines()[-25:])

    def _failed_test(self, code, program):
        """The name of the test that failed, or that was running when the program ended."""
        if code is not None and (failed := re.search(r"^\[  FAILED  \] (\w+[./]\w+)", self._text(), re.M)):
            return failed.group(1)
        running = re.findall(r"^\[ RUN      \] (\S+)", self._text(), re.M)
        return f"{running[-1] if running else program} ({how_it_ended(code)})"

    def _failed_schedule(self, code, program, pattern):
        """The program's description of a failing schedule, even if it timed out while it shrank the schedule."""
        found = re.search(pattern, self._text(), re.M)
        return f"{program} ({found.group(1) if found else how_it_ended(code)})"


def how_it_ended(code):
    return "timeout" if code is None else "crash"


class Workshop(Runner):
    subject = "baton_engine"  # the library with the faults
    programs = ("unit_tests", "simulate")  # the programs that test it

    def __init__(self, root, folder, parallel, schedules):
        super().__init__(folder / "output")
        self.source = folder / "source"
        self.build = folder / "build"
        self.backup = folder / "built"
        self.parallel = parallel
        self.schedules = schedules
        shutil.copytree(root, self.source, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))

    def prepare(self):
        """Builds the unchanged tree. The tests must pass without a fault."""
        self._need(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                    "-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF", f"-DCMAKE_CXX_FLAGS={FLAGS}"])
        self._need(self._ninja(self.subject, *self.programs))
        self.objects = self._objects()
        shutil.copytree(self.build, self.backup, ignore=shutil.ignore_patterns(".ninja_*"))
        by = self._test()
        if by:
            raise Trouble(f"the tests fail without any fault: {by}\n{self._tail()}")

    def judge(self, path, text):
        """Tests the tree with `text` as the contents of the file."""
        start = time.monotonic()
        original = (self.source / path).read_text()
        times = os.stat(self.source / path)
        (self.source / path).write_text(text)
        try:
            state, by = self._judge()
        finally:
            (self.source / path).write_text(original)
            os.utime(self.source / path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self._restore_build()
        return Verdict(state, by, time.monotonic() - start)

    def _judge(self):
        if self._run(self._ninja(self.subject)) != 0:
            return "does not compile", ""
        if self._objects() == self.objects:
            return "same code", ""
        if self._run(self._ninja(*self.programs)) != 0:
            return "does not compile", ""  # the fault is in a header that the tests use
        by = self._test()
        return ("killed", by) if by else ("survived", "")

    def _test(self):
        """The failure, a test's name or a seed of the simulation; empty if there is none."""
        code = self._run([self.build / UNIT, "--gtest_fail_fast"], UNIT_SECONDS)
        if code != 0:
            return self._failed_test(code, "unit tests")
        code = self._run([self.build / SIMULATE, "--schedules", str(self.schedules), "--jobs", str(self.parallel)],
                         SIMULATE_SECONDS)
        return "" if code == 0 else self._failed_schedule(code, "simulate", r"^(seed \d+) fails")

    # ninja compares times: files restored with their old times are not built again. Everything is restored, because a
    # precompiled header would keep the fault.
    def _restore_build(self):
        for saved in self.backup.rglob("*"):
            built = self.build / saved.relative_to(self.backup)
            if saved.is_file() and (not built.exists() or built.stat().st_mtime_ns != saved.stat().st_mtime_ns):
                shutil.copy2(saved, built)

    def _objects(self):
        return {path.name: hashlib.sha256(path.read_bytes()).digest()
                for path in self.build.rglob(f"{self.subject}.dir/**/*.o")}

    def _ninja(self, *targets):
        return ["ninja", "-C", self.build, "-j", str(self.parallel), *targets]
