"""How often the reported line is the edited one, over our wrong answers that are edits of a right one."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from autograder.api import Exercise
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Finding
from autograder.exercises.answers import Answer, EditedAnswer
from autograder.localize.find import find

NEAR_LINES = 2  # lines


@dataclass
class Lines:
    """The number of edited answers for which a line was reported, and its distance to the edit."""

    edits: int = 0
    near: int = 0
    exact: int = 0
    marked: int = 0  # lines that are sure, which a student sees
    true: int = 0  # of the marked lines: near the edit
    notes: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """One line of the report."""
        share = f" ({100 * self.near / self.edits:.0f}%)" if self.edits else ""
        near = f"{self.near}/{self.edits}{share}"
        true = f"{self.true}/{self.marked}"
        return (
            f"first wrong line within {NEAR_LINES} lines of the edit {near}, on it {self.exact}; of those shown {true}"
        )


def measure_answer(exercise: Exercise, path: Answer, findings: Sequence[Finding], into: Lines) -> None:
    """Adds a wrong answer to `into` if it is an edit of a right one."""
    if not isinstance(path, EditedAnswer):
        return
    text = path.read_text(encoding="utf-8")
    edited = edited_lines(text, path.base.read_text(encoding="utf-8"))
    found = find(exercise, findings, LocalSubject.from_source(text, path.name), [("answer", text)])
    gap = min(abs(found.line - line) for line in edited) if found else None
    into.edits += 1
    into.near += gap is not None and gap <= NEAR_LINES
    into.exact += gap == 0
    if found is not None and found.sure:
        into.marked, into.true = into.marked + 1, into.true + (gap is not None and gap <= NEAR_LINES)
    if gap is None or gap > NEAR_LINES:
        place = f"line {found.line}{' (shown)' * found.sure}" if found else "no line"
        into.notes.append(f"wrong/{path.stem} was edited in line {min(edited)}; {place} is named")


def edited_lines(text: str, right: str) -> set[int]:
    """The lines of `text` that are not in the right answer; for a deleted line, its neighbours."""
    lines, right_lines = _code(text), [line for _, line in _code(right)]
    codes = difflib.SequenceMatcher(None, right_lines, [line for _, line in lines], autojunk=False).get_opcodes()
    changed = [(j1, j2) for kind, _, _, j1, j2 in codes if kind != "equal"]
    places = {j for j1, j2 in changed for j in (range(j1, j2) if j2 > j1 else (j1 - 1, j1))}
    return {lines[place][0] for place in places if 0 <= place < len(lines)}


def _code(text: str) -> list[tuple[int, str]]:
    """(number, line) without the module's docstring, imports, comments and blanks."""
    first = ast.parse(text).body[0]
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    start = (first.end_lineno or 0) if has_docstring else 0
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if number > start)
    return [(n, line) for n, line in lines if line and not line.startswith(("#", "import ", "from "))]
