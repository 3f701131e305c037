"""Stores a mistake as replaced lines of a right answer, so that two mistakes can be combined in one answer.

A change is written as the body of a unified diff: a line that starts with a space is common, one with `-` is replaced,
one with `+` replaces it; a line `@@` separates two places. There are no line numbers: the common and the replaced
lines must together occur exactly once in the base.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

BREAK = "@@"


class BadChange(ValueError):
    """A change that does not fit its base; the message says which lines don't, and what to do."""


@dataclass(frozen=True, order=True)
class Replacement:
    """Replaces lines `start` to `end` (zero-based, `end` excluded) of the base by `lines`."""

    start: int
    end: int
    lines: tuple[str, ...]

    def overlaps(self, other: Replacement) -> bool:
        """Whether the two cannot both be made: they touch a common line, or insert at one place."""
        if self.start == other.start and (self.start == self.end) == (other.start == other.end):
            return True
        return self.start < other.end and other.start < self.end


def parse_replacements(change: str, base: str) -> tuple[Replacement, ...]:
    """The replacements that a written change makes in `base`, in order. Raises BadChange if the change does not fit."""
    lines = base.splitlines()
    found: list[Replacement] = []
    for hunk in _hunks(change):
        found += _located(hunk, lines)
    found.sort()
    if any(one.overlaps(other) for one, other in zip(found, found[1:], strict=False)):
        raise BadChange("two places of the change touch the same line: write them as one")
    if not found:
        raise BadChange("the change replaces nothing: write lines that start with - and +")
    return tuple(found)


def apply_replacements(base: str, replacements: Iterable[Replacement]) -> str:
    """The text of `base` with all these replacements made."""
    lines = base.splitlines()
    for one in sorted(set(replacements), reverse=True):
        lines[one.start : one.end] = one.lines
    return "\n".join(lines) + "\n"


def compatible(one: Sequence[Replacement], other: Sequence[Replacement]) -> bool:
    """Whether both can be made in one base: they share no line, or only identical replacements."""
    only_one, only_other = set(one) - set(other), set(other) - set(one)
    return bool(only_one and only_other) and not any(a.overlaps(b) for a in only_one for b in only_other)


def _hunks(change: str) -> list[list[str]]:
    hunks: list[list[str]] = [[]]
    for line in change.strip("\n").splitlines():
        if line.rstrip() == BREAK:
            hunks.append([])
        elif line[:1] not in ("", " ", "-", "+"):
            raise BadChange(f"the line {line!r} starts with neither a space nor - nor +")
        else:
            hunks[-1].append(line or " ")
    return hunks


def _located(hunk: list[str], lines: list[str]) -> list[Replacement]:
    old = [line[1:] for line in hunk if line[0] != "+"]
    places = [at for at in range(len(lines) - len(old) + 1) if lines[at : at + len(old)] == old] if old else []
    if len(places) != 1:
        many = "more than once: add common lines around it" if places else "nowhere: copy it from the base as it is"
        raise BadChange(f"the base has {(old or ['(no line)'])[0].strip()!r} and what follows {many}")
    return _replacements(hunk, places[0])


def _replacements(hunk: list[str], at: int) -> list[Replacement]:
    found: list[Replacement] = []
    start, new = at, list[str]()
    for line in [*hunk, " "]:
        if line[0] == "+":
            new.append(line[1:])
        elif line[0] == "-":
            at += 1
        else:
            if new or at > start:
                found.append(Replacement(start, at, tuple(new)))
            at += 1
            start, new = at, []
    return found


def difference(base: str, text: str) -> str:
    """The written change that turns `base` into `text`: the inverse of `parse_replacements` and `apply_replacements`.

    Raises BadChange if the two are the same.
    """
    old, new = base.splitlines(), text.splitlines()
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changes = [Replacement(i1, i2, tuple(new[j1:j2])) for tag, i1, i2, j1, j2 in blocks if tag != "equal"]
    if not changes:
        raise BadChange("the text is that of the base: there is no mistake in it")
    return f"\n{BREAK}\n".join("\n".join(_written(group, old)) for group in _grouped(changes, old))


def entry(name: str, base: str, sentence: str, change: str) -> str:
    """A table of wrong.toml that is easy to read: the lines of the change are not escaped."""
    one_line = "\n" not in sentence and not {'"', "\\"} & set(sentence)
    quoted = f'"{sentence}"' if one_line else f'"""\n{_escaped(sentence)}\n"""'
    return f'[{name}]\nbase = "{base}"\nsentence = {quoted}\nchange = {toml_text(change)}\n'


def toml_text(text: str) -> str:
    """Lines as a multi-line string in TOML, with the delimiters on lines of their own."""
    return f"'''\n{text}\n'''" if "'''" not in text else f'"""\n{_escaped(text)}\n"""'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _grouped(changes: Sequence[Replacement], old: list[str]) -> list[tuple[int, int, list[Replacement]]]:
    """Groups of changes with enough lines around them to make their place unique; touching groups are merged."""
    groups: list[tuple[int, int, list[Replacement]]] = []
    for change in changes:
        start, end = _unique(change, old)
        if groups and start <= groups[-1][1]:
            before, there, others = groups.pop()
            start, end, group = min(before, start), max(there, end), [*others, change]
        else:
            group = [change]
        groups.append((start, end, group))
    return groups


def _unique(change: Replacement, old: list[str]) -> tuple[int, int]:
    start, end = change.start, change.end
    while not _occurs_once(old[start:end], old) and (start > 0 or end < len(old)):
        start = max(start - 1, 0)
        if not _occurs_once(old[start:end], old):
            end = min(end + 1, len(old))
    return start, end


def _occurs_once(block: list[str], old: list[str]) -> bool:
    return bool(block) and sum(old[at : at + len(block)] == block for at in range(len(old) - len(block) + 1)) == 1


def _written(group: tuple[int, int, list[Replacement]], old: list[str]) -> Iterator[str]:
    at, end, changes = group
    for change in changes:
        yield from (f" {line}".rstrip() for line in old[at : change.start])
        yield from (f"-{line}" for line in old[change.start : change.end])
        yield from (f"+{line}" for line in change.lines)
        at = change.end
    yield from (f" {line}".rstrip() for line in old[at:end])
