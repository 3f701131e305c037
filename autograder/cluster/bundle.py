"""What is sent to a worker: one student's submission with all that grading needs, and with nothing of another one."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from autograder.api import Exercise
from autograder.cluster.engine import engine_files, source_files
from autograder.diagnosis import misconceptions
from autograder.exercises import registry
from autograder.exercises.answers import FOLDER, Answer, answers
from autograder.nbgrader.rebuild import GradebookCell
from tfkit_course.small_file import parse_json

# settings of BoxedExecute that say where code runs: by default machines differ in that anyway
NOT_HASHED = ("key_file", "device", "trust", "sandbox")
MOST_UNPACKED, MOST_VALUES = 256 << 20, 1 << 24  # bytes and values of a bundle or a record: five large notebooks


class Key(NamedTuple):
    """The key of a record; the hashes are SHA-256 in hexadecimal."""

    student: str
    assignment: str
    submission: str
    checks: str


@dataclass(frozen=True)
class SubmittedNotebook:
    """One submitted notebook: its text, or why it cannot be read, or that it is missing and what was found instead."""

    text: str = ""
    unreadable: str = ""
    missing: str = ""


@dataclass(frozen=True)
class ReleasedNotebook:
    """One released notebook: its cells and its kernelspec, from the gradebook."""

    cells: tuple[GradebookCell, ...]
    kernelspec: dict[str, Any] | None = None


@dataclass(frozen=True)
class Bundle:
    """A submission to grade: notebooks by name, and the course's settings for the steps that run on a worker.

    `predictions`: the names of those that the student made, of the ones that a released notebook gives points for.
    `questions`: what the student answered about their code, by exercise, where a released notebook gives points for it.
    `seeds`: notebook → exercise → the seed of its inputs, drawn with the course's key, which is not sent.
    """

    key: Key
    submitted: dict[str, SubmittedNotebook]
    released: dict[str, ReleasedNotebook]
    settings: dict[str, dict[str, Any]]
    predictions: tuple[str, ...] = ()
    questions: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The bundle, to be sent or stored."""
        return pack(asdict(self) | {"key": list(self.key)})

    @classmethod
    def from_bytes(cls, data: bytes) -> Bundle:
        """The bundle in these bytes. Raises ValueError if they are not a bundle."""
        raw = unpack(data)
        return cls(
            Key(*raw["key"]),
            {name: SubmittedNotebook(**one) for name, one in raw["submitted"].items()},
            {name: released_from(one) for name, one in raw["released"].items()},
            raw["settings"],
            tuple(raw.get("predictions", ())),  # a grader of an older version sends none; its checks are refused
            raw.get("questions", {}),
            raw.get("seeds", {}),
        )


def released_from(raw: dict[str, Any]) -> ReleasedNotebook:
    """The inverse of `asdict`."""
    return ReleasedNotebook(tuple(GradebookCell(**cell) for cell in raw["cells"]), raw["kernelspec"])


def pack(value: Any) -> bytes:
    """JSON, compressed: neither side builds objects from what the other wrote. Dask's transport between them does (see
    SECURITY.md)."""
    return zlib.compress(json.dumps(value, sort_keys=True).encode(), 3)


def unpack(data: bytes) -> Any:
    """The inverse of `pack`. Raises ValueError if the bytes are not valid, or much larger than they look."""
    reading = zlib.decompressobj()
    try:
        text = reading.decompress(data, MOST_UNPACKED)
    except zlib.error as error:
        raise ValueError(f"not a bundle or a record: {error}") from error
    if not reading.eof:
        raise ValueError(f"not a bundle or a record: cut off, or larger than {MOST_UNPACKED >> 20} MB")
    return parse_json(text.decode("utf-8"), MOST_VALUES)


def hash_of_submission(
    submitted: dict[str, SubmittedNotebook], predictions: Sequence[str] = (), questions: Mapping[str, Any] | None = None
) -> str:
    """A hash that is the same for the same notebooks, predictions made and questions answered, whenever they were
    submitted.
    """
    notebooks = [[name, one.text, one.unreadable, *_missing(one)] for name, one in sorted(submitted.items())]
    made = [json.dumps(predictions).encode()] if predictions else []  # with none, records of older versions still count
    told = [b"questions" + json.dumps(questions, sort_keys=True).encode()] if questions else []
    return _digest(json.dumps(notebooks).encode(), *made, *told)


def _missing(submitted: SubmittedNotebook) -> list[str]:
    """For the hash: not what was found instead, which may change while the notebook is still missing."""
    return ["missing"] if submitted.missing else []


def hash_of_checks(
    released: dict[str, ReleasedNotebook], settings: Mapping[str, Any] | None = None, assignment: str = ""
) -> str:
    """A hash of what a verdict depends on besides the submission: released cells, points, checks, reference, engine.

    `settings`: those of BoxedExecute; all count but those in NOT_HASHED. Misconceptions count for the exercises that
    were released, mutants for `assignment`.
    A worker computes the hash again from its own files, so that one with another version refuses to grade.
    """
    plain = json.dumps({name: asdict(one) for name, one in released.items()}, sort_keys=True)
    check_cells = {cell.name for one in released.values() for cell in one.cells if cell.grade}
    chosen = json.dumps(_hashed_settings(settings or {}, check_cells, assignment), sort_keys=True)
    return _digest(plain.encode(), _code_hash(frozenset(check_cells)).encode(), chosen.encode())


def _hashed_settings(settings: Mapping[str, Any], check_cells: set[str], assignment: str) -> dict[str, Any]:
    """The settings that a verdict depends on; an empty one is as good as none."""
    known, mutants = settings.get("misconceptions") or {}, settings.get("mutants") or {}
    damaged = misconceptions.WRONG  # with it nothing is graded, so that it matters when the file is mended
    here = {
        "misconceptions": {
            name: one for name, one in known.items() if name == damaged or _check_cell(name) in check_cells
        },
        "mutants": mutants.get(assignment),
    }
    return {name: one for name, one in {**settings, **here}.items() if one and name not in NOT_HASHED}


def _check_cell(exercise: str) -> str:
    return "check-" + exercise.replace(".", "-")


@lru_cache(maxsize=8)
def _code_hash(check_cells: frozenset[str]) -> str:
    exercises = [exercise for exercise in registry.exercises() if _check_cell(exercise.id) in check_cells]
    return hash_of_code(exercises, ("right", "wrong", "edge"))


def hash_of_code(exercises: Sequence[Exercise], kinds: Sequence[str]) -> str:
    """A hash of the engine, and of these exercises' checks, references and collected answers of these kinds."""
    parts: list[Answer] = [*engine_files()]
    for exercise in exercises:
        own = source_files(exercise.folder) if exercise.folder else []
        parts += [path for path in own if path.name != "lesson.py" and FOLDER not in path.parts]
        for kind in kinds:  # in a folder or inside a wheel
            parts += answers(exercise, kind)
        parts += [path for folder in _reference_folders(exercise) for path in source_files(folder)]
    digest = hashlib.sha256(repr([_declared(exercise) for exercise in exercises]).encode())
    for path in dict.fromkeys(parts):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _declared(exercise: Exercise) -> dict[str, Any]:
    return {name: value for name, value in asdict(exercise).items() if name != "folder"}  # depends on the machine


def _reference_folders(exercise: Exercise) -> Iterable[Path]:
    """The packages that hold the references, found without importing them."""
    for reference in exercise.references:
        top, *rest = reference.partition(":")[0].split(".")
        spec = importlib.util.find_spec(top)
        for root in (spec.submodule_search_locations or []) if spec else []:
            yield Path(root).joinpath(*rest[:-1])


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
