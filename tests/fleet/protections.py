"""Shows that the fleet needs each of its protections.

Removes the protections of tests/fleet/protections.toml, one at a time, and plays schedules of the fleet until the
promise breaks that the protection names. Prints a table.

Exit codes: 0 every protection is needed; 1 a protection is not needed; 2 the script failed.
"""

import argparse
import os
import re
import sys
import tempfile
import tomllib
from pathlib import Path

sys.dont_write_bytecode = True
FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
sys.path.insert(0, str(FOLDER.parent / "mutants"))

from workshop import Trouble, Workshop  # noqa: E402

SECONDS = 600  # of processor time for each protection


def text_with(protection, root):
    """The file with the protection, whose text must occur once in it."""
    text = (root / protection["file"]).read_text()
    found = text.count(protection["old"])
    if found != 1:
        raise Trouble(f"\"{protection['name']}\": its `old` text occurs {found} times instead of once in {protection['file']}")
    return text


class FleetWorkshop(Workshop):
    subject = "baton_session"
    programs = ("fleet",)
    arguments = ()

    def _test(self):
        self._run([self.build / "tests/fleet/fleet", "--schedules", str(self.schedules), "--jobs", str(self.parallel),
                   *self.arguments], SECONDS)
        output = self.output.read_text(errors="replace")
        if broken := re.search(r"^seed (\d+), at [\d.]+ s: (.*)$", output, re.M):
            return f"{broken.group(2)} (seed {broken.group(1)})"
        return ""

    def without(self, protection):
        """The judge's report without this protection; empty if no promise breaks."""
        self.arguments = ["--must-break", protection["breaks"]]
        if "without" in protection:
            self.arguments += ["--without", protection["without"]]
            return self._test()
        text = text_with(protection, self.source)
        verdict = self.judge(protection["file"], text.replace(protection["old"], protection["new"]))
        if verdict.state not in ("killed", "survived"):
            raise Trouble(f"\"{protection['name']}\": {verdict.state}")
        return verdict.by


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedules", type=int, default=120000, metavar="N", help="play at most N schedules for each protection (default 120000)")
    parser.add_argument("--only", metavar="TEXT", default="", help="only protections whose names contain TEXT")
    parser.add_argument("--list", action="store_true", help="print the names and check that the texts are in the source; play nothing")
    options = parser.parse_args()
    protections = tomllib.loads((FOLDER / "protections.toml").read_text())["protection"]
    if options.list:
        for protection in protections:
            if "file" in protection:
                text_with(protection, ROOT)
            print(protection["name"])
        return 0
    well = True
    with tempfile.TemporaryDirectory(prefix="baton-protections-") as folder:
        workshop = FleetWorkshop(ROOT, Path(folder), len(os.sched_getaffinity(0)), 2000)
        print("building and playing an unchanged copy …", file=sys.stderr, flush=True)
        workshop.prepare()
        workshop.schedules = options.schedules
        print("| without | breaks |\n|---|---|", flush=True)
        for protection in protections:
            if options.only not in protection["name"]:
                continue
            broken = workshop.without(protection)
            well = well and bool(broken)
            print(f"| {protection['name']} | {broken or 'NOTHING'} |", flush=True)
    return 0 if well else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print(f"protections: {trouble}", file=sys.stderr)
        sys.exit(2)
