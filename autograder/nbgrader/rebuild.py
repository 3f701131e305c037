"""Rebuilds a submission from the gradebook, so that nothing the student can write in metadata counts for anything.

Replaces nbgrader's ClearOutput, DeduplicateIds and OverwriteCells. They trust the marks in the file: a second copy of a
test cell ends the whole command, a deleted cell is not graded, `skip-execution` on a test cell earns its points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

# roles that run only in the student's lab and earn no points
UNGRADED_ROLES = ("demo", "experiment", "predict", "hunt", "ask", "recall")


@dataclass(frozen=True)
class GradebookCell:
    """What the gradebook records about one released cell."""

    name: str
    cell_type: str
    source: str
    checksum: str
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float | None

    def mark(self) -> dict[str, Any]:
        """The cell's `metadata.nbgrader`, complete and with no extra key (nbgrader refuses any)."""
        points = {} if self.points is None else {"points": self.points}
        flags = {"grade": self.grade, "solution": self.solution, "task": self.task, "locked": self.locked}
        known = {"schema_version": 3, "grade_id": self.name, "cell_type": self.cell_type, "checksum": self.checksum}
        return known | flags | points

    def role(self) -> dict[str, Any]:
        """The cell's `metadata.tfkit`. `released`: an answer's text as released, for its imports and names."""
        kind = "check" if self.grade and not self.solution else "exercise" if self.solution else "setup"
        answer = self.solution and self.cell_type == "code"
        return {"role": kind} | ({"released": self.source} if answer else {})


def sources(gradebook: Gradebook, notebook: str, assignment: str) -> list[GradebookCell]:
    """The released cells that nbgrader recorded, in the order of the notebook."""
    found = gradebook.find_notebook(notebook, assignment)
    points = {cell.name: float(cell.max_score) for cell in [*found.grade_cells, *found.task_cells]}
    graded, solved = ({cell.name for cell in cells} for cells in (found.grade_cells, found.solution_cells))
    tasks = {cell.name for cell in found.task_cells}
    return [
        GradebookCell(
            cell.name,
            cell.cell_type,
            cell.source,
            cell.checksum,
            bool(cell.locked),
            cell.name in graded,
            cell.name in solved,
            cell.name in tasks,
            points.get(cell.name),
        )
        for cell in found.source_cells
    ]


class RebuildFromGradebook(NbGraderPreprocessor):
    """The first of the sanitising preprocessors: restores released cells and keeps the student's answers.

    notes: what the instructor should know of the notebook that was rebuilt last.
    """

    notes: Sequence[str] = ()

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Rebuild `nb`, and void this submission's old grades, so that a crash from here on leaves none standing."""
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as gradebook:
            known = sources(gradebook, where["notebook"], where["assignment"])
            void_grades(gradebook, where)
        return self.rebuild(nb, known), resources

    def rebuild(self, nb: NotebookNode, known: list[GradebookCell]) -> NotebookNode:
        """`nb` with the released cells in `known`; the part that needs no gradebook, and so can run anywhere."""
        unreadable = (nb.metadata.get("tfkit") or {}).get("unreadable") if len(nb.cells) == 1 else None
        nb.cells = self._cells(nb.cells, known, bool(unreadable))
        nb.metadata = NotebookNode(tfkit={"unreadable": unreadable} if unreadable else {})
        return nb

    def _cells(self, handed_in: list[NotebookNode], known: list[GradebookCell], unreadable: bool) -> list[NotebookNode]:
        by_name = {source.name: source for source in known}
        kept = self._kept(handed_in, by_name)
        cells = []
        for index, cell in enumerate(handed_in):
            source = by_name.get(grade_id(cell))
            if source is None or kept[source.name] != index:
                if source is None or source.solution:  # drop a locked cell's copy; an answer's copy is code
                    cells.append(free_cell(cell, f"cell-{index}"))
            else:
                cells.append(released_cell(cell, source))
        present = set(kept)
        for position, source in enumerate(known):
            if source.name not in present:
                self.log.warning("Cell %s was missing from the submission and was restored", source.name)
                after = known[position - 1].name if position else None
                cells.insert(_place(cells, after), restored_cell(source, unreadable))
        return cells

    def _kept(self, handed_in: list[NotebookNode], by_name: dict[str, GradebookCell]) -> dict[str, int]:
        """Which submitted cell is used for each released one: the first copy of a locked cell, and the last copy of an
        answer, since Python uses the last definition."""
        kept: dict[str, int] = {}
        repeated: dict[str, None] = {}
        for index, cell in enumerate(handed_in):
            name = grade_id(cell)
            if name in kept and not by_name[name].locked:
                repeated[name] = None
            if name in by_name and not (name in kept and by_name[name].locked):
                kept[name] = index
        self.notes = [f"{', '.join(repeated)} occurs more than once: the last copy counts"] if repeated else []
        for note in self.notes:
            self.log.warning("%s", note)
        return kept


def grade_id(cell: NotebookNode) -> str:
    """The id that the file claims for `cell`; "" if it claims none or nonsense."""
    marks = cell.metadata.get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) else ""


def released_cell(cell: NotebookNode, source: GradebookCell) -> NotebookNode:
    """`cell` as released where that is locked, as the student wrote it where it is an answer."""
    text = source.source if source.locked else cell.source
    return _new(source.cell_type, text, source.name, {"nbgrader": source.mark(), "tfkit": source.role()})


def restored_cell(source: GradebookCell, unreadable: bool = False) -> NotebookNode:
    """The released cell in place of a missing one; a deleted answer is marked as such and earns nothing."""
    role = source.role() | ({"missing": "unreadable" if unreadable else "deleted"} if source.solution else {})
    return _new(source.cell_type, source.source, source.name, {"nbgrader": source.mark(), "tfkit": role})


def free_cell(cell: NotebookNode, name: str) -> NotebookNode:
    """A cell that the student added, or a demonstration, with the outputs as submitted (feedback cleans them)."""
    marks = cell.metadata.get("tfkit")
    role = marks.get("role") if isinstance(marks, dict) else None
    shown = cell.cell_type == "code" and role in UNGRADED_ROLES
    new = _new(cell.cell_type, cell.source, name, {"tfkit": {"role": role}} if shown else {})
    if shown:
        new.outputs = cell.outputs
    if "attachments" in cell:
        new.attachments = cell.attachments
    return new


def _new(cell_type: str, source: str, name: str, metadata: dict) -> NotebookNode:
    make = {"code": new_code_cell, "markdown": new_markdown_cell}.get(cell_type, new_raw_cell)
    return make(source, id=name[:64], metadata=metadata)


def _place(cells: list[NotebookNode], after: str | None) -> int:
    names = [grade_id(cell) for cell in cells]
    return names.index(after) + 1 if after in names else 0


def void_grades(gradebook: Gradebook, where: dict) -> None:
    """Delete the automatic grades of one submitted notebook until new ones are written; manual grades stay."""
    submitted = gradebook.find_submission_notebook(where["notebook"], where["assignment"], where["student"])
    for grade in submitted.grades:
        grade.auto_score = None
        grade.needs_manual_grade = True
    gradebook.db.commit()
