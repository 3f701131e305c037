"""What is sent to a worker: one student's submission with all that grading needs, except the course's secret key."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from autograder import registry
from autograder.answers import FOLDER, Answer, answers
from autograder.api import Exercise
from autograder.nbgrader.rebuild import GradebookCell

PACKAGE = Path(__file__).parents[1]
ENGINE = (
    "run.py",
    "points.py",
    "sandbox_client.py",
    "injected_modules.py",
    "diagnose.py",
    "diagnosis",
    "localize",
    "misconceptions.py",
    "answers.py",
    "checks",
    "sandbox",
    "nbgrader/rebuild.py",
)


class Key(NamedTuple):
    """The key of a record; the hashes are SHA-256 in hexadecimal."""

    student: str
    assignment: str
    submission: str
    checks: str


@dataclass(frozen=True)
class SubmittedNotebook:
    """One submitted notebook: its text, or the reason why there is none."""

    text: str = ""
    unreadable: str = ""


@dataclass(frozen=True)
class ReleasedNotebook:
    """One released notebook: its cells and its kernelspec, from the gradebook."""

    cells: tuple[GradebookCell, ...]
    kernelspec: dict[str, Any] | None = None


@dataclass(frozen=True)
class Bundle:
    """A submission to grade: notebooks by name, and the course's settings for the steps that run on a worker.

    `predictions`: the names of those that the student made, of the ones that a released notebook gives points for.
    """

    key: Key
    submitted: dict[str, SubmittedNotebook]
    released: dict[str, ReleasedNotebook]
    settings: dict[str, dict[str, Any]]
    predictions: tuple[str, ...] = ()

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
        )


def released_from(raw: dict[str, Any]) -> ReleasedNotebook:
    """The inverse of `asdict`."""
    return ReleasedNotebook(tuple(GradebookCell(**cell) for cell in raw["cells"]), raw["kernelspec"])


def pack(value: Any) -> bytes:
    """JSON, compressed: neither side unpickles what the other wrote."""
    return zlib.compress(json.dumps(value, sort_keys=True).encode(), 3)


def unpack(data: bytes) -> Any:
    """The inverse of `pack`. Raises ValueError if the bytes are not valid."""
    try:
        return json.loads(zlib.decompress(data))
    except zlib.error as error:
        raise ValueError(f"not a bundle or a record: {error}") from error


def hash_of_submission(submitted: dict[str, SubmittedNotebook], predictions: Sequence[str] = ()) -> str:
    """A hash that is the same for the same notebooks and predictions made, whenever they were submitted."""
    notebooks = [[name, one.text, one.unreadable] for name, one in sorted(submitted.items())]
    made = [json.dumps(predictions).encode()] if predictions else []  # with none, records of older versions still count
    return _digest(json.dumps(notebooks).encode(), *made)


def hash_of_checks(released: dict[str, ReleasedNotebook], settings: Mapping[str, Any] | None = None) -> str:
    """A hash of what a verdict depends on besides the submission: released cells, points, checks, reference, engine.

    `settings`: those of BoxedExecute; only the properties' weights and the course's misconceptions count here.
    A worker computes the hash again from its own files, so that one with another version refuses to grade.
    """
    plain = json.dumps({name: asdict(one) for name, one in released.items()}, sort_keys=True)
    exercises = {cell.name for one in released.values() for cell in one.cells if cell.grade}
    weights, known = ((settings or {}).get(name) or {} for name in ("weights", "misconceptions"))
    worth = json.dumps(sorted(weights.items())) if weights else ""
    here = {name: entries for name, entries in known.items() if "check-" + name.replace(".", "-") in exercises}
    own = [json.dumps(here, sort_keys=True).encode()] if here else []
    return _digest(plain.encode(), _code_hash(frozenset(exercises)).encode(), worth.encode(), *own)


@lru_cache(maxsize=8)
def _code_hash(check_cells: frozenset[str]) -> str:
    exercises = [e for e in registry.exercises() if "check-" + e.id.replace(".", "-") in check_cells]
    return hash_of_code(exercises, ("right", "wrong", "edge"))


def hash_of_code(exercises: Sequence[Exercise], kinds: Sequence[str]) -> str:
    """A hash of the engine, and of these exercises' checks, references and collected answers of these kinds."""
    parts: list[Answer] = [path for name in ENGINE for path in _sources(PACKAGE / name)]
    for exercise in exercises:
        parts += [path for path in _sources(exercise.folder) if path.name != "lesson.py" and FOLDER not in path.parts]
        for kind in kinds:  # in a folder or inside a wheel
            parts += answers(exercise, kind)
        parts += [path for folder in _reference_folders(exercise) for path in _sources(folder)]
    digest = hashlib.sha256(repr([_declared(exercise) for exercise in exercises]).encode())
    for path in dict.fromkeys(parts):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _declared(exercise: Exercise) -> dict[str, Any]:
    return {name: value for name, value in asdict(exercise).items() if name != "folder"}  # depends on the machine


def _sources(path: Path | None) -> Iterator[Path]:
    if path is not None:
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def _reference_folders(exercise: Exercise) -> Iterable[Path]:
    """The packages that hold the references, found without importing them."""
    for reference in exercise.references:
        top, *rest = reference.partition(":")[0].split(".")
        spec = importlib.util.find_spec(top)
        for root in (spec.submodule_search_locations or []) if spec else []:
            yield Path(root).joinpath(*rest[:-1])


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
