"""Rules that run code: the stub, the solution, the notebook after copy and paste; the collected answers."""

from __future__ import annotations

import copy
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode
from traitlets.config import Config

from autograder.api import Exercise, Limits, Verdict
from autograder.cluster.bundle import ReleasedNotebook
from autograder.cluster.job import SentExecute, verdicts_in
from autograder.exercises.parse import defined_names
from autograder.grade.seeds import seeds_for
from autograder.lint.notebook import Problems, marks
from autograder.nbgrader import predictions, questions
from autograder.nbgrader.execute import check_cells, is_own_test, wanted_exercises
from autograder.nbgrader.rebuild import RebuildFromGradebook
from autograder.nbgrader.submission import parse
from autograder.sandbox import Backend, Box

SHARE = 0.25  # of the time limit that the solution may use, since students write slower code
SECRET = b"lint"


class CountingBackend(Backend):
    """Starts boxes of another backend, and keeps them in `boxes` to read their resource usage."""

    def __init__(self, backend: Backend) -> None:
        self.backend, self.boxes = backend, list[Box]()
        self.name, self.isolated, self.cards = backend.name, backend.isolated, backend.cards

    def start(self, limits: Limits) -> Box:
        """Delegates to the backend."""
        self.boxes.append(self.backend.start(limits))
        return self.boxes[-1]

    def describe(self) -> dict[str, str]:
        """Delegates to the backend."""
        return self.backend.describe()


class TimedExecute(SentExecute):
    """Also records the processor seconds of each exercise, of the box and of the grader for which it waits.

    Wall time would make every solution slow on a busy machine.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """See the parent class."""
        self.seconds: dict[str, float] = {}
        self._counted = CountingBackend(super()._backend())
        self._since = self._used()
        return super().preprocess(nb, resources)

    def _seeds(self, nb: NotebookNode, exercises: Sequence[Exercise], student: str) -> Mapping[str, int]:
        return seeds_for(SECRET, student, nb, exercises)

    def _backend(self) -> Backend:
        return self._counted

    def _used(self) -> float:
        return time.process_time() + sum(box.cpu_s() for box in self._counted.boxes)

    def _progress(self, name: str, what: tuple) -> None:
        super()._progress(name, what)
        now = self._used()
        self.seconds |= {item.exercise: now - self._since for item in what if isinstance(item, Verdict)}
        self._since = now


class GradedNotebook:
    """One version of a notebook, graded as a submission of it would be."""

    def __init__(self, nb: NotebookNode, released: ReleasedNotebook, settings: dict[str, Any], name: str) -> None:
        config = Config(settings)
        rebuilt = RebuildFromGradebook(config=config).rebuild(parse(nbformat.writes(nb)), list(released.cells))
        step = TimedExecute({}, config=config)
        where = {"student": "lint", "assignment": name, "notebook": name}
        self.nb, _ = step.preprocess(rebuilt, {"nbgrader": where})
        self.verdicts: dict[str, dict[str, Any]] = {
            one["exercise"]: one
            for one in verdicts_in(self.nb)
            if one["exercise"] not in (predictions.GRADE_ID, questions.GRADE_ID)  # nobody answered any of them
        }
        self.seconds = step.seconds

    def errors(self) -> Problems:
        """Released cells that raise when they are run."""
        for cell in self.nb.cells:
            for output in cell.get("outputs", []) if marks(cell) and not marks(cell)["grade"] else []:
                if output.output_type == "error":
                    yield marks(cell)["grade_id"], f"{output.ename}: {output.evalue}"


def stub_faults(stub: GradedNotebook) -> Problems:
    """The released notebook must run and earn no points."""
    for cell, error in stub.errors():
        yield cell, f"the released cell stops with {error}: students cannot run what they get"
    for name, verdict in stub.verdicts.items():
        if verdict["status"] == "not_graded":
            yield name, f"the stub is not graded ({verdict['reason']})"
        elif verdict["score"] > 0:
            yield (
                name,
                f"the stub earns {verdict['score']:g} of {verdict['max_score']:g} points: make its checks stricter",
            )


def solution_faults(solution: GradedNotebook, limits: Limits) -> Problems:
    """The solution must run, earn all points, and use a small part of the time limit."""
    for cell, error in solution.errors():
        yield cell, f"in the source notebook this cell stops with {error}"
    for name, verdict in solution.verdicts.items():
        seconds = solution.seconds.get(name, 0.0)
        if verdict["status"] != "passed":
            yield (
                name,
                f"the solution gets {verdict['score']:g} of {verdict['max_score']:g} points: {failure_reason(verdict)}",
            )
        elif seconds > SHARE * limits.wall_s:
            yield name, (f"the solution takes {seconds:.1f} s of the {limits.wall_s:g} s that a student's code gets: "
                         "ask for less, or raise c.BoxedExecute.limits")  # fmt: skip


def pasted_faults(pasted: GradedNotebook, solution: GradedNotebook) -> Problems:
    """Copied cells must not change a verdict."""
    for name, verdict in pasted.verdicts.items():
        if verdict["status"] != "passed" and solution.verdicts[name]["status"] == "passed":
            yield (
                name,
                f"passes, but not after every cell was copied and pasted below itself: {failure_reason(verdict)}",
            )


# What stands for every answer: an object that agrees with everything, and functions that return one value.
HOSTILE = {
    "an object that says yes to everything": """
class _Yes:
    shape, dtype = (), None
    def __call__(self, *args, **kwargs): return self
    def __getattr__(self, name): return self
    def __getitem__(self, key): return self
    def __iter__(self): return iter(())
    def __len__(self): return 0
    def __eq__(self, other): return True
    def __bool__(self): return True
    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    def __sub__(self, other): return 0
    __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __sub__
    def __hash__(self): return 0
{names} = _Yes()
""",
    "True": "{names} = lambda *args, **kwargs: True",
    "None": "{names} = lambda *args, **kwargs: None",
}


def own_tests_of(nb: NotebookNode) -> list[str]:
    """The grade ids of the tests that the instructor wrote."""
    wanted = wanted_exercises(nb)
    return [cell.metadata.nbgrader["grade_id"] for cell in check_cells(nb) if is_own_test(cell, wanted[cell.id])]


def hostile_notebooks(nb: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    """The source notebook with each of HOSTILE in place of every name that an answer defines."""
    for what, template in HOSTILE.items():
        changed = copy.deepcopy(nb)
        for cell in changed.cells:
            names = defined_names(cell.source) if cell.cell_type == "code" and marks(cell).get("solution") else set()
            if names:
                cell.source = template.replace("{names}", " = ".join(sorted(names)))
        yield what, changed


def hostile_faults(graded: GradedNotebook, what: str, tests: Collection[str]) -> Problems:
    """No own test may be passed by answers that are none."""
    for name in tests:
        verdict = graded.verdicts.get(name)
        if verdict is not None and verdict["score"] > 0:
            yield name, (f"earns {verdict['score']:g} of {verdict['max_score']:g} points where every answer is {what}: "
                         "compare what it returns with values")  # fmt: skip


def paste_cells(nb: NotebookNode) -> NotebookNode:
    """Each cell twice, as JupyterLab pastes them: a new id, the same metadata."""
    twice = copy.deepcopy(nb)
    twice.cells = []
    for number, cell in enumerate(nb.cells):
        again = copy.deepcopy(cell)
        again.id = f"pasted-{number}"
        twice.cells += [copy.deepcopy(cell), again]
    return twice


def corpus_faults(exercise: Exercise) -> Problems:
    """Every collected wrong answer must fail, every right one pass."""
    from autograder.corpus.judge import ask_reference, judge

    score = judge(exercise, ask_reference(exercise, 0), leave_out=False)
    if not score.wrong:
        yield exercise.id, "has no wrong answer in its wrong.toml, so nothing shows that its checks catch one"
    yield from ((exercise.id, what) for what in score.complaints)


def exercises_of(nb: NotebookNode) -> Iterator[Exercise]:
    """The installed exercises that a graded notebook has checks of."""
    yield from (exercise for exercise in wanted_exercises(nb).values() if exercise)


def failure_reason(verdict: dict[str, Any]) -> str:
    """The first message of a failed verdict, in one line."""
    failed = [f"{check['name']}: {check['message']}" for check in verdict["checks"] if check["status"] == "failed"]
    return " ".join((failed or [verdict["reason"] or verdict["status"]])[0].split())
