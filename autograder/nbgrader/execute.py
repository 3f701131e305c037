"""Replaces nbgrader's Execute: no kernel is started; the engine grades, and its verdicts become outputs."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Dict, Float, Int, List, Unicode, Union
from traitlets.utils.importstring import import_item

from autograder.api import CheckResult, Exercise, Limits, Verdict
from autograder.diagnosis import misconceptions
from autograder.exercises import contracts, registry
from autograder.feedback.html import verdict_html
from autograder.feedback.text import verdict_line
from autograder.feedback.translate import title_of
from autograder.grade.seeds import seeds_for
from autograder.nbgrader import predictions, questions, unfinished
from autograder.questions.record import JudgedAnswers
from autograder.sandbox import Backend, choose
from autograder.settings import points
from autograder.settings.credit import DEFAULT

KILLED_TWICE = "the grader was killed twice while it graded this submission: grade it by hand"


class BoxedExecute(NbGraderPreprocessor):
    """Runs the student's cells in the box and writes each exercise's verdict into its check cell."""

    key_file = Unicode(
        "", help="file with the course's secret key; seeds are derived from it, so that a regrade draws the same cases"
    ).tag(config=True)
    device = Unicode("auto", help="auto, cpu or cuda").tag(config=True)
    trust = Bool(False, help="run code without a sandbox; only for an instructor's own notebooks").tag(config=True)
    sandbox = Unicode(
        "", help="the sandbox to use, as named by `autograder doctor`; by default the strongest available"
    ).tag(config=True)
    packages = List(
        Unicode(),
        help="what student code may import besides torch, NumPy, IPython and matplotlib, as it is called by pip: "
        "['pandas', 'scipy']. It has to be installed beside the autograder.",
    ).tag(config=True)
    limits = Dict(
        per_key_traits={"wall_s": Float(), "call_s": Float(), "memory_mb": Int(), "processes": Int()},
        help="what the code of one exercise may use, as autograder.api.Limits: {'call_s': 20.0, 'memory_mb': 4096}",
    ).tag(config=True)
    weights = Dict(
        help="how many times its usual points each property earns, {'gradients': 2.0}: [weights] of the course.toml",
    ).tag(config=True)
    credit = Union(
        [Unicode(), Dict()],  # a dictionary holds the error of a course.toml that cannot be read
        default_value=DEFAULT,
        help="what a wrong answer keeps, distance or checks: [grading] of the course.toml",
    ).tag(config=True)
    ordered = Union(
        [Float(), Dict()],  # as above
        default_value=0.0,
        help="the share of the points that an order of lines earns in the place of code, 0 for none: [grading] of the "
        "course.toml",
    ).tag(config=True)
    contracts = Union(
        [Unicode(), Dict()],  # as above
        default_value="",
        help="by which text contracts are drawn for each student: variants of the course.toml with variants_for = "
        '"student"; "": those of the released notebook',
    ).tag(config=True)
    misconceptions = Dict(help="the course's own, by exercise: misconceptions.toml, less the code").tag(config=True)
    mutants = Dict(help="mutants of your own solutions by assignment, as `autograder adopt` stores them").tag(
        config=True
    )
    engine = Unicode(
        "autograder.grade.run.grade_notebook",
        help="dotted name of what grades: (nb, exercises, **how) -> list[Verdict]",
    ).tag(config=True)
    _logged_not_run: ClassVar[set[tuple[str, str]]] = set()  # the checks of which the log has said why they are not run

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Grade every check cell of a rebuilt notebook. The grader's own failure gives `not_graded`, no exception."""
        where = resources["nbgrader"]
        name_answers(nb)
        if self.contracts and isinstance(self.contracts, str):
            name_contracts(nb, contracts.group_of(self.contracts, where["student"]))
        wanted = wanted_exercises(nb)
        if unfinished.killed_too_often():
            self.log.error("%s · %s: %s", where["student"], where["assignment"], KILLED_TWICE)
            mark_not_graded(nb, KILLED_TWICE)
            return nb, resources
        given_up = missing_answers(nb, wanted)
        found = {verdict.exercise: verdict for verdict in given_up}
        left = [exercise for cell_id, exercise in wanted.items() if exercise and exercise.id not in found]
        started = time.monotonic()
        for verdict in self._grade(nb, left, where):
            found[verdict.exercise] = verdict
        self._report(where, list(found.values()), time.monotonic() - started)
        write_outputs(nb, list(found.values()))
        own = self._grade_own_tests(nb, wanted, where)
        own |= self._grade_predictions(nb, resources)
        own |= self._grade_questions(nb, resources, found)
        for cell in check_cells(nb):
            exercise = wanted[cell.id]
            verdict = (found.get(exercise.id) if exercise else own.get(cell.id)) or ungraded_verdict(cell, exercise)
            write_verdict(cell, scale_points(verdict, float(cell.metadata.nbgrader["points"])))
        return nb, resources

    def _grade(self, nb: NotebookNode, exercises: list[Exercise], where: dict) -> Sequence[Verdict]:
        if not exercises:
            return []
        name = f"{where['student']} · {where['assignment']}"
        try:
            points.check_contracts(self.contracts, "c.BoxedExecute.contracts")
            ordered = points.check_ordered(self.ordered, "c.BoxedExecute.ordered")
            return import_item(self.engine)(  # imported late: it needs torch, other commands do not
                nb,
                exercises,
                backend=self._backend(),
                seeds=self._seeds(nb, exercises, where["student"]),
                student=where["student"],
                device=self.device,
                progress=lambda *what: self._progress(name, what),
                limits=Limits(**self.limits),
                **({"weights": points.check_weights(self.weights, "c.BoxedExecute.weights")} if self.weights else {}),
                credit=points.check_credit(self.credit, "c.BoxedExecute.credit"),
                **({"ordered": ordered} if ordered else {}),
                **({"known": misconceptions.check_entries(self.misconceptions)} if self.misconceptions else {}),
            )
        except Exception as error:  # it must cost neither this student nor the class their points
            self.log.exception("%s could not be graded", name)
            return [ungraded_exercise(exercise, f"the grader failed: {error}") for exercise in exercises]

    def _grade_own_tests(self, nb: NotebookNode, wanted: dict, where: dict) -> dict[str, Verdict]:
        """Cell id → verdict for the tests that an instructor wrote as in any nbgrader notebook."""
        cells = [cell for cell in check_cells(nb) if is_own_test(cell, wanted[cell.id])]
        if not cells:
            return {}
        from autograder.own_tests import grade as own_tests  # it imports torch

        name = f"{where['student']} · {where['assignment']}"
        points = {cell.id: float(cell.metadata.nbgrader["points"]) for cell in cells}
        names = {cell.id: cell.metadata.nbgrader["grade_id"] for cell in cells}
        try:
            limits = Limits(**self.limits)
            found = own_tests.grade(
                nb, points, names, self._backend(), limits, self.mutants.get(where["assignment"], ())
            )
        except Exception as error:  # as above
            self.log.exception("%s could not be graded", name)
            reason = f"the grader failed: {error}"
            return {cell.id: replace(ungraded_verdict(cell, None), reason=reason) for cell in cells}
        self._progress(name, tuple(found.values()))
        return found

    def _grade_predictions(self, nb: NotebookNode, resources: dict) -> dict[str, Verdict]:
        """Cell id → verdict of the cell that gives points for predictions, if the course has one."""
        cells = [cell for cell in check_cells(nb) if predictions.is_predictions_cell(cell)]
        answered = self._answered(resources) if cells else ()
        return {cell.id: predictions.grade(cell, answered) for cell in cells}

    def _answered(self, resources: dict) -> Collection[str]:
        """The predictions that the student made, from the file beside the submitted notebook."""
        return predictions.answered_predictions(resources["metadata"]["path"])

    def _grade_questions(self, nb: NotebookNode, resources: dict, found: Mapping[str, Verdict]) -> dict[str, Verdict]:
        """Cell id → verdict of the cell that gives points for answers about one's own code, if the course has one.

        found: the exercises' verdicts: only about those that passed there are questions.
        """
        cells = [cell for cell in check_cells(nb) if questions.is_questions_cell(cell)]
        if not cells:
            return {}
        try:
            recorded = self._recorded(resources)
            return {cell.id: questions.grade(cell, self._judged(nb, cell, recorded, found)) for cell in cells}
        except Exception as error:  # as above
            self.log.exception("the questions of %s could not be made", resources["nbgrader"]["student"])
            reason = f"the grader failed: {error}"
            return {cell.id: replace(ungraded_verdict(cell, None), reason=reason) for cell in cells}

    def _judged(
        self, nb: NotebookNode, cell: NotebookNode, recorded: Mapping[str, Any], found: Mapping[str, Verdict]
    ) -> dict[str, JudgedAnswers]:
        """What became of the answers about each exercise that the cell names."""
        from autograder.questions import graded  # it imports torch

        judged, budget = {}, graded.submission_budget()
        asked = {exercise.id: exercise for exercise in wanted_exercises(nb).values() if exercise}  # with contracts
        for name in questions.exercise_names(cell.source):
            known, entries = questions.without_answers(found.get(name)), recorded.get(name, [])
            exercise = asked.get(name) or registry.find(name)
            judged[name] = known or graded.judge(exercise, nb, entries, self._backend(), budget)
        return judged

    def _recorded(self, resources: dict) -> Mapping[str, Any]:
        """What the student answered about their code, from the file beside the submitted notebook."""
        return questions.recorded_answers(resources["metadata"]["path"])

    def _backend(self) -> Backend:
        return choose(self.trust, self.sandbox, self.packages)

    def _seeds(self, nb: NotebookNode, exercises: Sequence[Exercise], student: str) -> Mapping[str, int]:
        """Exercise → the seed of its inputs."""
        return seeds_for(self._key(), student, nb, exercises)

    def _key(self) -> bytes:
        path = Path(self.key_file)
        if not self.key_file or not path.is_file():
            where = self.key_file or "c.BoxedExecute.key_file"
            raise FileNotFoundError(f"no course key at {where}: run `python -m autograder.nbgrader.config`")
        return path.read_bytes()

    def _progress(self, name: str, what: tuple) -> None:
        for item in what:
            self.log.info("%s: %s", name, verdict_line(item) if isinstance(item, Verdict) else item)
            if isinstance(item, Verdict) and item.status == "passed":
                self._log_not_run(item.checks)

    def _log_not_run(self, checks: Sequence[CheckResult]) -> None:
        """Log which checks need something that this machine lacks, once in a run instead of with every exercise."""
        for check in checks:
            if check.status == "not_run" and (check.name, check.message) not in self._logged_not_run:
                self._logged_not_run.add((check.name, check.message))
                self.log.info("not run, and no points lost: %s (%s)", check.name, check.message)

    def _report(self, where: dict, verdicts: list[Verdict], seconds: float) -> None:
        score, most = sum(v.score for v in verdicts), sum(v.max_score for v in verdicts)
        self.log.info("%s · %s: %g of %g in %.1f s", where["student"], where["assignment"], score, most, seconds)


def check_cells(nb: NotebookNode) -> list[NotebookNode]:
    """The cells that carry points for code."""
    return [cell for cell in nb.cells if (cell.metadata.get("tfkit") or {}).get("role") == "check"]


def mark_not_graded(nb: NotebookNode, reason: str) -> None:
    """Writes into every check cell of a rebuilt notebook that it was not graded, and why, without running anything."""
    wanted = wanted_exercises(nb)
    for cell in check_cells(nb):
        verdict = replace(ungraded_verdict(cell, wanted[cell.id]), reason=reason)
        write_verdict(cell, scale_points(verdict, float(cell.metadata.nbgrader["points"])))


def name_answers(nb: NotebookNode) -> None:
    """Write each answer's exercise, found by its grade id, into the cell's metadata, where the engine reads it."""
    known = {"solution-" + exercise.id.replace(".", "-"): exercise.id for exercise in registry.exercises()}
    for cell in nb.cells:
        tfkit = cell.metadata.get("tfkit") or {}
        if tfkit.get("role") == "exercise":
            tfkit["exercise"] = known.get(cell.metadata.nbgrader["grade_id"], cell.metadata.nbgrader["grade_id"])


def name_contracts(nb: NotebookNode, group: str) -> None:
    """Write the contracts of this group into the check cells of a rebuilt notebook, from where all that grades and
    shows them takes them."""
    known = {"check-" + exercise.id.replace(".", "-"): exercise for exercise in registry.exercises()}
    for cell in check_cells(nb):
        if exercise := known.get(cell.metadata.nbgrader["grade_id"]):
            asked = contracts.with_contract(exercise, contracts.draw_contract(exercise, group))
            cell.source = contracts.checking(asked, cell.source)


def wanted_exercises(nb: NotebookNode) -> dict[str, Exercise | None]:
    """Check cell id → exercise, by the grade id `check-<exercise, dots as dashes>`, under the contract that the cell
    names; None if no course has it."""
    known = {"check-" + exercise.id.replace(".", "-"): exercise for exercise in registry.exercises()}
    found = ((cell, known.get(cell.metadata.nbgrader["grade_id"])) for cell in check_cells(nb))
    return {cell.id: exercise and contracts.as_checked(exercise, cell.source) for cell, exercise in found}


CHECKS = re.compile(r"^check\(", re.MULTILINE)


def is_own_test(cell: NotebookNode, exercise: Exercise | None) -> bool:
    """Whether a graded cell is an instructor's own test, not a `check("…")` of an exercise that is not installed."""
    is_check = CHECKS.search(cell.source) is not None and cell.metadata.nbgrader["grade_id"].startswith("check-")
    is_counted = predictions.is_predictions_cell(cell) or questions.is_questions_cell(cell)
    return exercise is None and cell.cell_type == "code" and not is_check and not is_counted


def missing_answers(nb: NotebookNode, wanted: dict[str, Exercise | None]) -> list[Verdict]:
    """Zero for each exercise whose answer was deleted or could not be read, since there is nothing to run."""
    reasons = {
        "deleted": "The cell with your answer was missing from your submission.",
        "unreadable": f"Your notebook could not be read: {(nb.metadata.get('tfkit') or {}).get('unreadable')}.",
    }
    gone = {
        cell.metadata.nbgrader["grade_id"].removeprefix("solution-"): reasons[cell.metadata.tfkit["missing"]]
        for cell in nb.cells
        if (cell.metadata.get("tfkit") or {}).get("missing")
    }
    return [
        Verdict(
            exercise=e.id,
            status="failed",
            score=0.0,
            max_score=e.points,
            title=title_of(e),
            reason=gone[e.id.replace(".", "-")],
        )  # fmt: skip
        for e in wanted.values()
        if e and e.id.replace(".", "-") in gone
    ]


def ungraded_verdict(cell: NotebookNode, exercise: Exercise | None) -> Verdict:
    """The verdict for a check cell that the engine returned no verdict for."""
    if exercise:
        return ungraded_exercise(exercise, "the grader returned no verdict")
    name, points = cell.metadata.nbgrader["grade_id"], cell.metadata.nbgrader["points"]
    reason = "no installed course has an exercise for this cell; see `autograder list`"
    return Verdict(exercise=name, status="not_graded", score=0.0, max_score=points, reason=reason)


def ungraded_exercise(exercise: Exercise, reason: str) -> Verdict:
    """The verdict `not_graded` for a failure of the grader, with its reason."""
    return Verdict(exercise=exercise.id, status="not_graded", score=0.0, max_score=exercise.points, reason=reason,
                   title=title_of(exercise))  # fmt: skip


def scale_points(verdict: Verdict, points: float) -> Verdict:
    """The verdict scaled to the points that this course gives for the cell, never outside 0 … points."""
    share = verdict.score / verdict.max_score if verdict.max_score > 0 else 0.0
    times = points / verdict.max_score if verdict.max_score > 0 else 0.0
    checks = tuple(replace(check, points=times * check.points, of=times * check.of) for check in verdict.checks)
    return replace(verdict, score=points * min(max(share, 0.0), 1.0), max_score=points, checks=checks)


def write_verdict(cell: NotebookNode, verdict: Verdict) -> None:
    """Write exactly one output that nbgrader reads as the score; for `not_graded` one that cannot give full marks."""
    cell.metadata["tfkit"] = {**cell.metadata["tfkit"], "exercise": verdict.exercise, "verdict": verdict.as_json()}
    page = {"text/html": verdict_html(verdict)}
    if verdict.status == "not_graded":
        line = f"NotGraded: {verdict.reason}"
        cell.outputs = [
            new_output("display_data", data={**page, "text/plain": line}),
            new_output("error", ename="NotGraded", evalue=verdict.reason, traceback=[line]),
        ]
        return
    data = {"text/plain": repr(float(verdict.score)), **page}
    cell.outputs = [new_output("execute_result", data=data, execution_count=None)]


def write_outputs(nb: NotebookNode, verdicts: list[Verdict]) -> None:
    """Put on the student's cells what they printed in the box: for an answer, in the box that graded it."""
    seen: dict[str, list] = {}
    for verdict in verdicts:
        own = "solution-" + verdict.exercise.replace(".", "-")
        for cell_id, outputs in verdict.outputs.items():
            if cell_id == own or cell_id not in seen:
                seen[cell_id] = outputs
    graded = {cell.id for cell in check_cells(nb)}
    for cell in nb.cells:
        if cell.cell_type == "code" and cell.id in seen and cell.id not in graded:
            cell.outputs = [NotebookNode(output) for output in seen[cell.id]]
