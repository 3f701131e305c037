"""The job that turns a bundle into a record. It reads and writes no files, keeps no results, and runs in a process
without other threads (`grading_process`), since torch's settings and random numbers are those of a whole process."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput
from traitlets.config import Config

from autograder.api import Exercise
from autograder.cluster.bundle import Bundle, Key, ReleasedNotebook, SubmittedNotebook, hash_of_checks, pack, unpack
from autograder.cluster.grading_process import WrongVersion, worker_name
from autograder.cluster.received import check_record
from autograder.nbgrader.execute import BoxedExecute, mark_not_graded
from autograder.nbgrader.rebuild import RebuildFromGradebook
from autograder.nbgrader.submission import UnreadableNotebook, absent, empty, equal_ids_note, parse_counting
from autograder.sandbox import SandboxError, choose


@dataclass(frozen=True)
class GradingRecord:
    """The outcome of one submission: its graded notebooks and the verdicts in them."""

    key: Key
    notebooks: dict[str, str]
    verdicts: list[dict[str, Any]]  # as `Verdict.as_json`, with the notebook's name
    seconds: float
    worker: str
    missing: dict[str, str] = field(default_factory=dict)  # notebook → what was found instead
    notes: list[str] = field(default_factory=list)  # what else the instructor should know of the notebooks

    @classmethod
    def from_bytes(cls, data: bytes) -> GradingRecord:
        """The record in these bytes. Raises ValueError if they are not a record."""
        return cls._made(unpack(data))

    @classmethod
    def _made(cls, raw: Any) -> GradingRecord:
        whole = raw["notebooks"], raw["verdicts"], raw["seconds"], raw["worker"]
        return cls(Key(*raw["key"]), *whole, raw.get("missing", {}), raw.get("notes", []))  # older ones have neither

    @classmethod
    def of(cls, key: Key, data: bytes) -> GradingRecord:
        """The record in these bytes, which a worker sent for `key`. Raises ValueError if they are not that.

        A worker that lies can spoil the submissions it was given, and no others: neither another student's grade, nor a
        file outside this student's folder, nor the run of the class.
        """
        raw = unpack(data)
        check_record(raw)
        if raw.get("key") != list(key):
            raise ValueError(f"a worker sent the record of another submission: {str(raw.get('key'))[:200]}")
        return cls._made(raw)

    def to_bytes(self) -> bytes:
        """The record, to be sent or stored."""
        return pack(self.__dict__ | {"key": list(self.key)})


class SentExecute(BoxedExecute):
    """BoxedExecute without the files that only the grader has: with the seeds of this notebook, the names of the
    predictions that were `answered`, and the record of the answers to questions about the student's code."""

    def __init__(
        self,
        seeds: Mapping[str, int],
        answered: Collection[str] = (),
        record: Mapping[str, Any] | None = None,
        **kw: Any,
    ) -> None:
        super().__init__(**kw)
        self._sent, self._predictions, self._record = seeds, answered, record or {}

    def _seeds(self, nb: NotebookNode, exercises: Sequence[Exercise], student: str) -> Mapping[str, int]:
        return self._sent

    def _answered(self, resources: dict) -> Collection[str]:
        return self._predictions

    def _recorded(self, resources: dict) -> Mapping[str, Any]:
        return self._record


def warm_up() -> str:
    """Load torch and start a box in this process before there is anything to grade; returns its name."""
    from autograder.grade import run  # noqa: F401 (torch comes with it)

    with suppress(SandboxError):  # reported when a bundle is sent
        choose()
    return worker_name()


def grade(data: bytes) -> bytes:
    """Grade a bundle. Raises WrongVersion, or SandboxError if there is no box here; then there is no record."""
    bundle = Bundle.from_bytes(data)
    boxed = bundle.settings.get("BoxedExecute", {})
    if hash_of_checks(bundle.released, boxed, bundle.key.assignment) != bundle.key.checks:
        raise WrongVersion(
            f"{worker_name()} has a different version of the checks: install the version that the grader has"
        )
    choose(bool(boxed.get("trust")), str(boxed.get("sandbox", "")), boxed.get("packages", ()))
    started, notes = time.monotonic(), list[str]()
    graded = {
        name: grade_notebook(bundle, name, bundle.submitted[name], released, notes)
        for name, released in bundle.released.items()
        if name in bundle.submitted
    }
    verdicts = [{"notebook": name} | verdict for name, nb in graded.items() for verdict in verdicts_in(nb)]
    texts = {name: nbformat.writes(nb) for name, nb in graded.items()}
    seconds = time.monotonic() - started
    return GradingRecord(bundle.key, texts, verdicts, seconds, worker_name(), _missing(bundle), notes).to_bytes()


def ungraded_record(data: bytes, reason: str) -> GradingRecord:
    """The record of a bundle that kills every worker: all checks are `not_graded` and need manual grading."""
    bundle = Bundle.from_bytes(data)
    graded = {name: rebuilt(name, bundle.submitted[name], released, []) for name, released in bundle.released.items()
              if name in bundle.submitted}  # fmt: skip
    for nb in graded.values():
        mark_not_graded(nb, reason)
    verdicts = [{"notebook": name} | verdict for name, nb in graded.items() for verdict in verdicts_in(nb)]
    texts = {name: nbformat.writes(nb) for name, nb in graded.items()}
    return GradingRecord(bundle.key, texts, verdicts, 0.0, worker_name(), _missing(bundle))


def _missing(bundle: Bundle) -> dict[str, str]:
    return {name: one.missing for name, one in bundle.submitted.items() if one.missing}


def grade_notebook(
    bundle: Bundle, name: str, submitted: SubmittedNotebook, released: ReleasedNotebook, notes: list[str]
) -> NotebookNode:  # fmt: skip
    """The steps of `nbgrader autograde` with the shipped configuration, except those that use the gradebook.

    notes: what the instructor should know of the notebook is added here.
    """
    config = Config(bundle.settings)
    where = {"student": bundle.key.student, "assignment": bundle.key.assignment, "notebook": name}
    nb = rebuilt(name, submitted, released, notes)
    if submitted.missing:
        mark_not_graded(nb, submitted.missing)
        return nb
    resources: dict[str, Any] = {"nbgrader": where}
    execute = SentExecute(bundle.seeds.get(name, {}), bundle.predictions, bundle.questions, config=config)
    for step in (execute, LimitOutput(config=config), CheckCellMetadata(config=config)):
        nb, resources = step.preprocess(nb, resources)
    return nb


def rebuilt(name: str, submitted: SubmittedNotebook, released: ReleasedNotebook, notes: list[str]) -> NotebookNode:
    """The notebook as it is graded: released cells, and the student's answers. What was seen is added to `notes`."""
    rebuilding, found = RebuildFromGradebook(), list[str]()
    nb = rebuilding.rebuild(_read(submitted, found), list(released.cells))
    notes += [f"{name}.ipynb: {note}" for note in (*found, *rebuilding.notes)]
    if released.kernelspec:
        nb.metadata["kernelspec"] = released.kernelspec
    return nb


def _read(submitted: SubmittedNotebook, notes: list[str]) -> NotebookNode:
    if submitted.missing:
        return absent(submitted.missing)
    if submitted.unreadable:
        return empty(submitted.unreadable)
    try:
        nb, equal = parse_counting(submitted.text)
    except UnreadableNotebook as error:
        return empty(str(error))
    notes += [equal_ids_note(equal)] if equal else []
    return nb


def verdicts_in(nb: NotebookNode) -> list[dict[str, Any]]:
    """The verdicts in a graded notebook, in its order."""
    found = [(cell.metadata.get("tfkit") or {}).get("verdict") for cell in nb.cells]
    return [verdict for verdict in found if verdict]
