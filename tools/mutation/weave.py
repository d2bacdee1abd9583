"""Puts many mutants into one source: each function's body once per mutant, chosen by the environment."""

import re
from collections import defaultdict
from dataclasses import dataclass

# What a mutant breaks is found by tests, also where the compiler sees it coming.
ALLOWED = "#![allow(arithmetic_overflow, unconditional_panic)] "
SWITCH = """
pub(crate) fn mutant_runs(number: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let read = || std::env::var("WEIR_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    *CHOSEN.get_or_init(read) == number
}
"""
FUNCTION = re.compile(r"( *)(pub(\([\w ]+\))? )?(?P<fixed>const )?(unsafe )?(extern \"C\" )?fn ")


@dataclass(frozen=True)
class Mutant:
    """One changed line: its number from 0, its text before and after."""

    crate: str
    path: str
    number: int
    line: str
    changed: str


@dataclass(frozen=True)
class Body:
    """The lines of a function between its braces; `end` is the line of the closing one."""

    start: int
    end: int


def body(lines, number):
    """The body of the outermost function around a line, or nothing where bodies cannot be chosen as the program runs."""
    found = None
    indent = len(lines[number]) - len(lines[number].lstrip())
    for start in range(number - 1, -1, -1):
        depth = len(lines[start]) - len(lines[start].lstrip())
        if not lines[start] or depth > indent:
            continue
        if lines[start].lstrip().startswith("macro_rules!"):
            return None
        match = FUNCTION.match(lines[start])
        if match:
            found = whole(lines, start, depth, number) or found
        indent = depth
    return found


def whole(lines, start, depth, number):
    """The body of the function that begins at a line, if it encloses `number` and can be chosen as the program runs."""
    space = " " * depth
    ends = (at for at in range(start + 1, len(lines)) if lines[at] == space + "}")
    opens = (at for at in range(start, len(lines)) if lines[at].endswith("{") and opening(lines[at], space, at == start))
    end, first = next(ends, 0), next(opens, 0)
    head = " ".join(lines[start : first + 1])
    # A constant function cannot read the environment; two closures of one text have two types.
    if not first < number < end or FUNCTION.match(lines[start])["fixed"] or "-> impl " in head:
        return None
    return Body(first + 1, end)


def opening(line, space, same):
    """Whether the braces of a function begin at the end of a line, in the layout of rustfmt."""
    return same or (line.startswith(space) and line[len(space) :].startswith((")", "{")))


def woven(root, mutants, libraries):
    """The mutants that fit into one build by number, the others, and the files that change, by name."""
    by_file, alone, numbered, changed = defaultdict(list), [], {}, {}
    for mutant in mutants:
        by_file[mutant.path].append(mutant)
    for path, wanted in by_file.items():
        lines = (root / path).read_text().split("\n")
        by_body = defaultdict(dict)
        for mutant in wanted:
            around = body(lines, mutant.number)
            if around is None:
                alone.append(mutant)
                continue
            numbered[len(numbered) + 1] = mutant
            by_body[around][len(numbered)] = mutant
        for around in sorted(by_body, key=lambda b: -b.start):
            lines[around.start : around.end] = alternatives(lines, around, by_body[around])
        changed[path] = "\n".join(lines)
    for library in libraries:
        changed[library] = ALLOWED + changed.get(library, (root / library).read_text()) + SWITCH
    return numbered, alone, changed


def alternatives(lines, around, mutants):
    """The body once per mutant and once unchanged. Comments say where each begins, for the errors of the compiler."""
    result = []
    for number, mutant in mutants.items():
        result.append(f"if crate::mutant_runs({number}) {{ // mutant {number}")
        for at in range(around.start, around.end):
            line = lines[at]
            result.append(line.replace(mutant.line, mutant.changed, 1) if at == mutant.number else line)
        result.append("} else")
    return [*result, "{ // mutant 0", *lines[around.start : around.end], "} // mutant end"]
