#!/usr/bin/env python3
"""reuse_object.py BUILD COMPILER ARGUMENT…: a compiler launcher for a second build of the library.

If the build folder BUILD has compiled the same source with the same arguments, its object is copied; all other sources
are compiled. So the test that adds Baton as a subdirectory builds, links and runs a whole project in seconds.
"""
import filecmp
import json
import os
import shlex
import shutil
import sys


def normalised(arguments, folder):
    """The arguments without those that only name files of the build folder; the source, the object and the depfile."""
    kept, source, target, depfile = [], None, None, None
    rest = iter(arguments)
    for each in rest:
        if each == "-o":
            target = next(rest)
        elif each == "-c":
            source = next(rest)
        elif each == "-MF":
            depfile = next(rest)
        elif each in ("-MT", "-include"):  # -include: the precompiled header
            next(rest)
        elif each not in ("-MD", "-Winvalid-pch"):
            kept.append(each.replace(folder, "BUILD"))
    return kept, source, target, depfile


def reusable(first, arguments):
    """The object of the first build, if it has the same source and the same arguments."""
    here = os.getcwd()
    wanted, source, target, depfile = normalised(arguments, os.path.join(here, "baton"))
    if source is None or target is None:
        return None
    with open(os.path.join(first, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    for command in commands:
        words = shlex.split(command["command"])
        while words and os.path.basename(words[0]) in ("ccache", "sccache"):
            words.pop(0)
        known, its_source, its_object, _ = normalised(words, first)
        if known != wanted or os.path.basename(its_source) != os.path.basename(source):
            continue
        found = os.path.join(command["directory"], its_object)
        if filecmp.cmp(its_source, source, shallow=False) and os.path.exists(found):
            return found, source, target, depfile
    return None


def main():
    first, arguments = sys.argv[1], sys.argv[2:]
    found = reusable(first, arguments)
    if found is None:
        os.execvp(arguments[0], arguments)
    stored, source, target, depfile = found
    shutil.copyfile(stored, target)
    if depfile:
        with open(depfile, "w", encoding="utf-8") as file:
            file.write(f"{target}: {source}\n")
    with open("reused", "a", encoding="utf-8") as file:
        file.write(f"{source}\n")


main()
