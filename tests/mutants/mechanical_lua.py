"""Mechanical faults of Lua files: all small edits that change the meaning of the function library.

Works on text, as mechanical.py does for C++: comments and strings are blanked first, and the project's layout (one
statement on each line, spaces around binary operators) distinguishes statements and operators.
"""

import re

from mechanical import as_faults, one_more_or_less, spaces, swapped, without_comments

SWAPS = [
    ("comparison", r"(?<=\s)(<=|>=|==|~=|<|>)(?=\s)",
     {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "~=", "~=": "=="}),
    ("and/or", r"\b(and|or)\b", {"and": "or", "or": "and"}),
    ("min/max", r"(?<!function )\b(smaller|larger)(?=\()", {"smaller": "larger", "larger": "smaller"}),
    ("sign", r"(?<=\s)(\+|-)(?=\s)", {"+": "-", "-": "+"}),
    ("truth", r"\b(true|false)\b", {"true": "false", "false": "true"}),
    ("constant", r"\b(none|never)\b", {"none": "never", "never": "none"}),
    ("flag", r"(?<=[ (])('[01]')", {"'0'": "'1'", "'1'": "'0'"}),
    ("letter", r"(?<=[=~]= )('[xsplwgk]')", {"'x'": "'s'", "'s'": "'p'", "'p'": "'x'", "'l'": "'w'", "'w'": "'l'",
                                             "'g'": "'l'", "'k'": "'c'"}),
]
COMMENT = r"--[^\n]*"
STRING = r"'(?:\\.|[^'\\\n])*'"
STATEMENT = re.compile(r"(if .* end$|break\b|[\w.\[\]# +]+(, [\w.\[\]# +]+)* = \S|\w+\(.*\)$)")
HEAD = re.compile(r"(local|function|for|while|elseif|return|register|until)\b")
FUNCTION = re.compile(r"^(?:local )?function (\w+)\(|^register\(('\w+')|^    (?:local )?function (\w+)\(")


def functions_by_line(plain):
    """For each line the function that contains it, by the last function head before it."""
    names, name = [], "-"
    for line in plain.split("\n"):
        if head := FUNCTION.match(line):
            name = next(filter(None, head.groups())).strip("'")
        names.append(name)
    return names


def edits(plain, code):
    """Yields (kind, start, end, new)."""
    for kind, pattern, partners in SWAPS:
        searched = plain if kind in ("flag", "letter") else code
        yield from swapped(re.finditer(pattern, searched), kind, partners)
    # Positions in texts and lists are left out, because the first command detects each such fault.
    positions = re.sub(r"\w\[\d+\]|\b(sub|byte)\([^()]*\)", lambda match: spaces(match.group()), code)
    yield from one_more_or_less(re.finditer(r"(?<![\w.])(\d+)(?![\w.])", positions))
    for match in re.finditer(r"\bnot (?=[\w(])", code):
        yield "negation", match.start(), match.end(), ""
    for match in re.finditer(r"\b(if|elseif|while) (.+?) (then|do)\b", code):
        first, last = match.span(2)
        condition = plain[first:last]
        if re.search(r"\b(and|or)\b", condition) or not re.search(r"^not | [=~]= ", condition):
            yield "condition", first, last, f"not ({condition})"
    yield from statements(code)


def statements(code):
    """Lines that are a whole statement and declare nothing, without a last return, which changes nothing."""
    position = 0
    for line in code.split("\n"):
        text = line.strip()
        begin, end = position + len(line) - len(line.lstrip()), position + len(line.rstrip())
        position += len(line) + 1
        balanced = text.count("(") == text.count(")") and text.count("{") == text.count("}")
        whole = text.count("if ") == len(re.findall(r"\bend\b", text)) if text.startswith("if ") else True
        if balanced and whole and STATEMENT.match(text) and not HEAD.match(text):
            yield "statement", begin, end, ""


def faults_in(path, text):
    """Every mechanical fault of a file, in the order of its text."""
    plain = without_comments(text, STRING, COMMENT)
    code = re.sub(STRING, lambda match: spaces(match.group()), plain)
    names = functions_by_line(plain)
    found = ((names[plain.count("\n", 0, edit[1])], *edit)
             for edit in sorted(edits(plain, code), key=lambda edit: edit[1:]))
    return as_faults(path, plain, found, "l")
