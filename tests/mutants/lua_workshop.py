"""A folder in which faults are planted in the text of the function library and tested, one at a time.

Nothing is compiled for a fault: the differential test and the library tests read the text from a file. In the
differential test the schedules set the library's clock; only the library tests use clock.lua.
"""

import os
import shutil
import threading
import time

from workshop import Runner, Trouble, Verdict

FOLDER = "src/stores/redis/lua/"
TIMED = "tests/redis/timed_library.lua"
SERVER = "src/stores/redis/server_library.lua"
DIFFERENTIAL = "tests/redis/differential"
LIBRARY_TESTS = "tests/redis/library_tests"
# Limits, because a fault may run without end, in the test or in its server. Seconds of processor time of each process.
SECONDS = 60
TIMEOUT = 4  # times that in real time, for a fault that makes the test wait
# The slowest library tests, which wait for the server's clock, run last.
SLOW = "*ForgetSessions*:*FirstTurn*:*WithoutAHead:*Promoted"

preparing = threading.Lock()
prepared = []  # the build and the tests without a fault run once for all workshops


class LuaWorkshop(Runner):
    def __init__(self, root, folder, commands):
        super().__init__(folder / "output")
        self.root = root
        self.build = root / "build/dev"
        self.folder = folder
        self.commands = commands

    def prepare(self):
        """Builds the tests, which must pass without a fault."""
        with preparing:
            if not prepared:
                self._need(["cmake", "--preset", "dev", "-S", self.root])
                self._need(["cmake", "--build", self.build, "--target", "differential", "library_tests"])
            # Copies, so that the tree may be edited meanwhile.
            self.originals = {str(path.relative_to(self.root)): path.read_text()
                              for path in (self.root / FOLDER).rglob("*.lua")}
            self.timed, self.server = (self.build / TIMED).read_text(), (self.build / SERVER).read_text()
            self.differential, self.library_tests = (shutil.copy2(self.build / program, self.folder)
                                                     for program in (DIFFERENTIAL, LIBRARY_TESTS))
            if not prepared:
                by = self._test(self.timed, self.server)
                if by:
                    raise Trouble(f"the tests fail without any fault: {by}\n{self._tail()}")
            prepared.append(True)

    def judge(self, path, text):
        """Tests the library with `text` as the contents of the file."""
        start = time.monotonic()
        state, by = self._judge(path, text)
        return Verdict(state, by, time.monotonic() - start)

    def _judge(self, path, text):
        original = self.originals[path]
        is_clock = path == FOLDER + "clock.lua"
        if self.server.count(original) != 1 or not is_clock and self.timed.count(original) != 1:
            raise Trouble(f"{self.build}: the library was not built from the present {path}; build it again")
        server, timed = self.server.replace(original, text), self.timed.replace(original, text)
        mutated = self._bytecode(server)
        if mutated is None:
            return "does not compile", ""
        if mutated == self._bytecode(self.server):
            return "same code", ""
        by = self._test(None if is_clock else timed, server)
        return ("killed", by) if by else ("survived", "")

    def _bytecode(self, text):
        """The bytecode of the text; None if it does not compile."""
        source, code = self.folder / "source.lua", self.folder / "code"
        source.write_text(text)
        if self._run(["luac5.1", "-s", "-o", code, source]) != 0:
            return None
        return code.read_bytes().replace(b"source.lua", b"")

    def _test(self, timed, server):
        """The failure, a seed, a plan or a test's name; empty if there is none."""
        if timed is not None:
            file = self.folder / "timed.lua"
            file.write_text(timed)
            code = self._run([self.differential, "--library", file, "--no-shrink", "--commands", str(self.commands)],
                             SECONDS, timeout=TIMEOUT)
            if code in (64, 77):
                raise Trouble(self._tail())
            if code != 0:
                return self._failed_schedule(code, "differential", r'^(seed \d+|the plan ".*?") differs')
        file = self.folder / "server.lua"
        file.write_text(server)
        environment = {**os.environ, "BATON_TEST_LIBRARY": str(file)}
        for chosen in (f"-{SLOW}", SLOW):
            code = self._run([self.library_tests, "--gtest_fail_fast", f"--gtest_filter={chosen}"], SECONDS,
                             timeout=TIMEOUT, environment=environment)
            if code != 0:
                return self._failed_test(code, "library tests")
        return ""
