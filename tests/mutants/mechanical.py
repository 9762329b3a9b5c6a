"""Mechanical faults: all small edits of a source file that change the meaning of the program.

Works on text, not on a syntax tree: comments, literals and assertions are blanked first, and the project's layout
(spaces around binary operators, none inside template brackets) distinguishes operators from brackets. For an edit that
does not compile, the caller draws another.
"""

import hashlib
import re
from dataclasses import dataclass, field

# Functions that only make text or check invariants.
UNINTERESTING = {"to_string", "check_now_and_then"}

SWAPS = [
    ("comparison", r"(?<=\s)(<=|>=|==|!=|<|>)(?=\s)",
     {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}),
    ("and/or", r"(?<=\s)(&&|\|\|)(?=\s)", {"&&": "||", "||": "&&"}),
    ("min/max", r"\b(min|max)(?=[(<])", {"min": "max", "max": "min"}),
    ("step", r"(\+\+|--)", {"++": "--", "--": "++"}),
    ("sign", r"(?<=\s)(\+=|-=|\+|-)(?=\s)", {"+": "-", "-": "+", "+=": "-=", "-=": "+="}),
    ("truth", r"\b(true|false)\b", {"true": "false", "false": "true"}),
]


@dataclass(frozen=True)
class Fault:
    """One edit: text[start:end] of the file becomes `new`."""
    name: str
    kind: str
    file: str
    function: str
    shown: str  # the line with the fault, or the deleted statement
    start: int = field(compare=False)
    end: int = field(compare=False)
    new: str = field(compare=False)

    def applied_to(self, text):
        return text[:self.start] + self.new + text[self.end:]


COMMENT = r"//[^\n]*|/\*.*?\*/"
LITERAL = r'"(?:\\.|[^"\\\n])*"' + r"|(?<![0-9a-zA-Z])'(?:\\.|[^'\\\n])'"  # an apostrophe also separates digits
PREPROCESSOR = r"^[ \t]*#[^\n]*"


def spaces(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text, literal=LITERAL, comment=COMMENT):
    """The text with comments as spaces; positions stay."""
    return re.sub(f"{literal}|({comment})", lambda match: spaces(match.group()) if match.group(1) else match.group(),
                  text, flags=re.S)


def blanked(text):
    """The text with comments, literals, preprocessor lines and assertions as spaces; positions stay."""
    text = re.sub(f"{COMMENT}|{LITERAL}|{PREPROCESSOR}", lambda match: spaces(match.group()), text, flags=re.S | re.M)
    for match in re.finditer(r"\b(static_assert|assert|check_now_and_then)\s*\(", text):
        end = closing(text, match.end() - 1) + 1
        text = text[:match.start()] + spaces(text[match.start():end]) + text[end:]
    return text


def closing(text, opening):
    """The position of the bracket that closes the one at `opening`."""
    depth = 0
    for position in range(opening, len(text)):
        depth += text[position] in "([{"
        depth -= text[position] in ")]}"
        if depth == 0:
            return position
    raise ValueError(f"unbalanced bracket at {opening}")


def functions(code):
    """Yields (name, start, end) of each function's body."""
    position = 0
    boundary = 0
    while position < len(code):
        char = code[position]
        if char == "{":
            head = code[boundary:position].strip()
            if "(" in head and not re.match(r"(namespace|class|struct|enum)\b", head):
                end = closing(code, position)
                yield function_name(head), position + 1, end
                position = end
            elif not re.search(r"(namespace|class|struct)\b", head):  # an initialiser, an enumeration
                position = closing(code, position)
            boundary = position + 1
        elif char in ";}":
            boundary = position + 1
        elif code.startswith(("public:", "private:"), position):
            boundary = code.index(":", position) + 1
        position += 1


def function_name(head):
    """`name`, or `name(type)` for functions that are overloaded by the type of a command."""
    name = re.search(r"(operator\S+|~?\w+)\s*\(", head).group(1)
    if name in ("perform", "refusal_of"):
        return f"{name}({re.search(r'[(]const (?:[a-z]+::)*([a-z_]+)&', head).group(1)})"
    return name


def line_around(text, start, end):
    return text.rfind("\n", 0, start) + 1, (text + "\n").index("\n", end)


def one_line(text):
    return " ".join(text.split())


def swapped(matches, kind, partners):
    for match in matches:
        if match.group(1) in partners:
            yield kind, match.start(1), match.end(1), partners[match.group(1)]


def one_more_or_less(matches):
    for match in matches:
        value = int(match.group().replace("'", ""))
        yield "literal", match.start(), match.end(), str(value + 1)
        if value > 0:
            yield "literal", match.start(), match.end(), str(value - 1)


def edits(text, code, start, end):
    """Yields (kind, start, end, new) for the body of one function."""
    for kind, pattern, partners in SWAPS:
        yield from swapped(re.compile(pattern).finditer(code, start, end), kind, partners)
    yield from one_more_or_less(re.compile(r"(?<![\w.'])(\d[\d']*)(?![\w.'])").finditer(code, start, end))
    for match in re.compile(r"(?<![=\w])!(?=[\w(*])").finditer(code, start, end):
        yield "negation", match.start(), match.end(), ""
    for first, last in conditions(code, start, end):
        yield from negated(text, first, last)
    for first, last in statements(code, start, end):
        yield "statement", first, last, ";"


def conditions(code, start, end):
    """The conditions of if, while, for and ?: in a body."""
    for match in re.compile(r"\b(if|while|for)\s*\(").finditer(code, start, end):
        first, last = match.end(), closing(code, match.end() - 1)
        parts = split(code, first, last)
        if match.group(1) != "for":
            yield parts[-1]
        elif len(parts) == 3:
            yield parts[1]
    for match in re.compile(r"\s\?\s").finditer(code, start, end):
        first = before_ternary(code, start, match.start())
        yield first, match.start()


def split(code, first, last):
    """The parts of a bracket between its semicolons."""
    parts, depth, begin = [], 0, first
    for position in range(first, last):
        depth += code[position] in "([{"
        depth -= code[position] in ")]}"
        if code[position] == ";" and depth == 0:
            parts.append((begin, position))
            begin = position + 1
    return parts + [(begin, last)]


def before_ternary(code, start, position):
    """Where the condition of a ?: begins."""
    depth = 0
    for first in range(position - 1, start, -1):
        depth += code[first] in ")]}"
        depth -= code[first] in "([{"
        if depth < 0 or depth == 0 and (code[first] in ",;{" or code[first - 1:first + 2] == " = "):
            break
    return re.compile(r"(return\b)?\s*").match(code, after_headers(code, first + 1, position)).end()


def negated(text, first, last):
    condition = text[first:last]
    declared = re.match(r"\s*(?:const\s+)?[\w:<>]+[\s*&]+(\w+)\s*=(?!=)", condition)
    if declared:
        yield "condition", last, last, f"; !{declared.group(1)}"
        return
    compound = re.search(r"&&|\|\||\?", condition)
    if compound or not re.search(r"^\s*!|\s[=!]=\s", condition):  # else another edit is the same
        indent = len(condition) - len(condition.lstrip())
        yield "condition", first + indent, last, f"!({condition.strip()})"


def statements(code, start, end):
    """The statements of a body that declare nothing, without the if, for or else before them."""
    depth, begin, position = 0, start, start
    while position < end:
        char = code[position]
        if char == "{" and is_initialiser(code, position):
            position = closing(code, position)
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth == 0 and char in ";{}":
            if char == ";":
                first = after_headers(code, begin, position)
                is_last_return = code.startswith("return", first) and not code[position + 1:end].strip()
                if first < position and not is_last_return and not is_declaration(code[first:position]):
                    yield first, position + 1
            begin = position + 1
        position += 1


def is_initialiser(code, position):
    before = code[:position].rstrip()
    return bool(re.search(r"[\w>=,({]$", before)) and not re.search(r"\b(else|do|try|mutable|const|noexcept)$", before)


def after_headers(code, first, last):
    header = re.compile(r"\s*(?:(else\b)|(?:if|for|while)\s*(?:constexpr\s*)?(\())?")
    while True:
        match = header.match(code, first, last)
        if match.group(2):
            first = closing(code, match.end() - 1) + 1
        elif match.group(1):
            first = match.end()
        else:
            return match.end()


def is_declaration(statement):
    if re.match(r"return\b|continue\b|break\b", statement):
        return False
    return bool(re.match(r"(const|auto|using|static|constexpr)\b|[\w:]+(<.*>)?[\s&*]+\w+\s*($|[={(])", statement))


def as_faults(path, plain, found, letter):
    """The faults of a file, from tuples (function, kind, start, end, new) in the order of the text. Their names begin
    with the letter. `plain` is the text without comments."""
    seen = {}
    for function, kind, first, last, new in found:
        begin, stop = line_around(plain, first, last)
        shown = one_line(plain[begin:first] + new + plain[last:stop])
        if kind == "statement":
            shown = "no " + one_line(plain[first:last])
        # Equal lines in one function are distinguished by their order.
        key = (path, function, shown)
        seen[key] = seen.get(key, 0) + 1
        identity = ":".join((path, function, shown, str(seen[key])))
        name = letter + hashlib.sha256(identity.encode()).hexdigest()[:7]
        yield Fault(name, kind, path, function, shown, first, last, new)


def faults_in(path, text):
    """Every mechanical fault of a file, in the order of its text."""
    code = blanked(text)
    found = ((function, *edit) for function, start, end in functions(code) if function not in UNINTERESTING
             for edit in sorted(edits(text, code, start, end), key=lambda edit: edit[1:]))
    return as_faults(path, without_comments(text), found, "m")


def drawn(faults, seed):
    """The faults in an order that depends on the seed and on each fault's own text, not on its neighbours."""
    return sorted(faults, key=lambda fault: hashlib.sha256(f"{seed}:{fault.name}".encode()).digest())
