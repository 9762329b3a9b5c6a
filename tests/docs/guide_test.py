#!/usr/bin/env python3
"""guide_test.py GUIDE: tests that the SQL and the script for files of docs/guide.md refuse old fences."""
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

with open(sys.argv[1], encoding="utf-8") as file:
    page = file.read()
tables_and_writes = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
create_account, update_account, create_newest, check_newest = tables_and_writes


def expect(what, wanted, found):
    if wanted != found:
        sys.exit(f"{what}: wanted {wanted!r}, got {found!r}")


database = sqlite3.connect(":memory:")
for table in create_account, create_newest:
    database.execute(table)
database.execute("INSERT INTO account (id, balance) VALUES (7, 100)")
for fence, changed in (20, 1), (10, 0), (20, 1), (30, 1):
    row = {"id": 7, "balance": fence, "name": "ledger", "fence": fence}
    expect(f"rows that fence {fence} updates", changed, database.execute(update_account, row).rowcount)
    expect(f"fence {fence} of a name", changed, database.execute(check_newest, row).rowcount)
expect("the balance", [(30,)], list(database.execute("SELECT balance FROM account")))

with tempfile.TemporaryDirectory() as folder:
    script = next(block for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if block.startswith("#!"))
    target = f"{folder}/target"
    for fence, code, content in (20, 0, "20"), (10, 1, "20"), (20, 0, "20"), (1000000000000000, 0, "1000000000000000"):
        with open(f"{folder}/new", "w", encoding="utf-8") as file:
            file.write(str(fence))
        run = subprocess.run(["sh", "-c", script, "publish", f"{folder}/new", target], check=False,
                             env={**os.environ, "BATON_FENCE": str(fence)})
        expect(f"exit code of publish with fence {fence}", code, run.returncode)
        with open(target, encoding="utf-8") as file:
            expect("the file", content, file.read())
