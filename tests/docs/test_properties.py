#!/usr/bin/env python3
"""test_properties.py CTEST BUILD_FOLDER: fails if a test has no label or no TIMEOUT, and names it."""
import json
import subprocess
import sys
import tempfile

ctest, build = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    # ctest writes a log into its folder; in the build folder it would overwrite the log of the ctest that runs this
    # test.
    with open(f"{folder}/CTestTestfile.cmake", "w", encoding="utf-8") as file:
        file.write(f'subdirs("{build}")\n')
    listed = subprocess.run([ctest, "--test-dir", folder, "--show-only=json-v1"], check=True, capture_output=True)
tests = json.loads(listed.stdout)["tests"]
if len(tests) < 100:
    sys.exit(f"only {len(tests)} tests are listed: were the test programs built?")
faulty = []
for test in tests:
    names = {each["name"] for each in test.get("properties", [])}
    missing = {"LABELS", "TIMEOUT"} - names
    if missing:
        faulty.append(f"{test['name']} has no {' and no '.join(sorted(missing))}")
print(*faulty, sep="\n")
print(f"{len(tests)} tests, {len(faulty)} without a label or a timeout")
sys.exit(1 if faulty else 0)
