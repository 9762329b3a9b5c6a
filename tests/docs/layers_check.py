#!/usr/bin/env python3
"""layers_check.py PAGE ROOT: fails if a source file includes a file that the table of layers on the page does not allow,
or if the table itself points up. It prints file, line and rule."""
import os
import pathlib
import re
import sys

page, root = map(pathlib.Path, sys.argv[1:])
checked = ("src", "include", "dialects", "cli", "contract", "examples")
sources = re.compile(r"\.[ch]pp(\.in)?$")
including = re.compile(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
faulty = []

allowed = {}  # of each layer, in the order of the table
unchecked = []
for line in page.read_text(encoding="utf-8").splitlines():
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    if len(cells) != 3 or not cells[0].startswith("`"):
        continue
    layers = re.findall("`([^`]+)`", cells[0])
    if cells[1] == "everything":
        unchecked += layers
        continue
    allowed |= {layer: re.findall("`([^`]+)`", cells[1]) for layer in layers}
if not allowed:
    sys.exit(f"{page}: no table of layers")


def layer_of(path):
    """Returns the row with the longest folder that contains the path, or None."""
    parts = [str(each) for each in (path, *path.parents)]
    return next((part for part in parts if part in allowed or part in unchecked), None)


def target_of(file, quoted, angled):
    """Returns the included path below the root, a library's name, or None for a system header."""
    name = quoted or angled
    public = [pathlib.Path("include"), pathlib.Path("dialects/include")]
    folders = public if angled else [file.parent, pathlib.Path("src"), *public]
    if quoted and file.parts[0] == "cli":
        folders.append(pathlib.Path("cli"))
    for folder in folders:
        if any((root / folder / (name + end)).is_file() for end in ("", ".in")):
            return pathlib.Path(os.path.normpath(folder / name))
    if quoted:
        raise FileNotFoundError
    return name.split("/")[0].removesuffix(".hpp") if name.endswith(".hpp") else None


above = set()
for layer, names in allowed.items():
    for name in names:
        ours = (root / name).exists() or "/" in name
        if ours and name not in above and name not in unchecked:
            faulty.append(f"{page}: the row of {layer} names {name}, which is not a row above it")
    above.add(layer)

count = 0
for file in sorted(path.relative_to(root) for folder in checked for path in (root / folder).rglob("*.*")):
    own = layer_of(file)
    if not sources.search(file.name) or own in unchecked:
        continue
    if own is None:
        faulty.append(f"{file}:1: no row of {page} names its folder")
        continue
    for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1):
        if not (found := including.match(line)):
            continue
        count += 1
        try:
            target = target_of(file, *found.groups())
        except FileNotFoundError:
            faulty.append(f"{file}:{number}: {found[1]} is in none of our folders")
            continue
        layer = layer_of(target) or str(target) if isinstance(target, pathlib.Path) else target
        if layer not in (None, own, *allowed[own]):
            may = " ".join(allowed[own]) or "nothing of ours"
            faulty.append(f"{file}:{number}: {own} includes {found[1] or found[2]} of {layer}; it may include {may}")
print(*faulty, sep="\n")
print(f"{count} includes, {len(faulty)} faults")
sys.exit(1 if faulty or not count else 0)
