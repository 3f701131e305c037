"""How often the line that is named is the one that was edited: over our wrong answers that are edits of a right one."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder import injected_modules
from autograder.answers import Answer, answers
from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Finding
from autograder.localize.find import find

NEAR = 2  # lines
MOST = 5  # lines that an edit may have, and half of the answer at most


@dataclass
class Lines:
    """Of how many edited answers a line was named, and how near to the edit."""

    edits: int = 0
    near: int = 0
    exact: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """One line of the report."""
        share = f" ({100 * self.near / self.edits:.0f}%)" if self.edits else ""
        return f"first wrong line within {NEAR} lines of the edit {self.near}/{self.edits}{share}, on it {self.exact}"


def measured(exercise: Exercise, path: Answer, findings: Sequence[Finding], into: Lines) -> None:
    """Adds a wrong answer to `into`, where it is an edit of a right one."""
    text = path.read_text(encoding="utf-8")
    edited = edited_lines(text, right_texts(exercise))
    if not edited:
        return
    namespace = {"__name__": "answer"}
    exec(compile(text, path.name, "exec", dont_inherit=True), namespace)
    found = find(exercise, findings, LocalSubject(namespace), [("answer", text)])
    gap = min(abs(found.line - line) for line in edited) if found else None
    into.edits += 1
    into.near += gap is not None and gap <= NEAR
    into.exact += gap == 0
    if gap is None or gap > NEAR:
        said = f"line {found.line}" if found else "no line"
        into.notes.append(f"wrong/{path.stem} was edited in line {min(edited)}; {said} is named")


def right_texts(exercise: Exercise) -> list[str]:
    """Our right answers and the reference as it stands in the library."""
    return [path.read_text(encoding="utf-8") for path in answers(exercise, "right")] + [
        injected_modules.source([exercise])[0]
    ]


def edited_lines(text: str, rights: Sequence[str]) -> set[int]:
    """The lines of `text` that the nearest right answer has not; none where it differs in too many to be an edit.

    Of a line that was taken out, its neighbours.
    """
    mine = _code(text)
    sizes: dict[int, list] = {}
    for right in rights:
        theirs = [line for _, line in _code(right)]
        codes = difflib.SequenceMatcher(None, theirs, [line for _, line in mine], autojunk=False).get_opcodes()
        changed = [code for code in codes if code[0] != "equal"]
        size = sum(max(i2 - i1, j2 - j1) for _, i1, i2, j1, j2 in changed)
        if 0 < size <= min(MOST, len(theirs) / 2):
            sizes.setdefault(size, changed)
    if not sizes:
        return set()
    places = {j for _, _, _, j1, j2 in sizes[min(sizes)] for j in (range(j1, j2) if j2 > j1 else (j1 - 1, j1))}
    return {mine[place][0] for place in places if 0 <= place < len(mine)}


def _code(text: str) -> list[tuple[int, str]]:
    """(number, line) without the module's docstring, imports, comments and blanks."""
    first = ast.parse(text).body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    start = (first.end_lineno or 0) if told else 0
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if number > start)
    return [(n, line) for n, line in lines if line and not line.startswith(("#", "import ", "from "))]
