"""Proves questions on answers that are known to be right: are there enough, and does a third way find each key too?

What the third way is stands beside each kind of question (`find_again`), and in the table of docs/assessment.md.
Thousands of keys take hours: with a record a proof can be stopped at any time, and goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import count as counting
from pathlib import Path
from typing import Any

from autograder.api import Exercise
from autograder.exercises import injected_modules, registry
from autograder.exercises.answers import answers
from autograder.exercises.contracts import rewrite, without_adapter
from autograder.questions.edit import line_text
from autograder.questions.make import questions
from autograder.questions.question import CodeQuestion
from autograder.questions.runs import CALLS, CallBudget, CodeRunner, StudentCode
from autograder.questions.turns import in_turn
from autograder.sandbox.base import Backend
from autograder.sandbox.client import Cell

WANTED = 3  # questions for each answer
OTHERS = ("checks/operators.py", "diagnosis/rewrites.py")  # of other packages, from which variants are made
# no key depends on these
NOT_KEYS = ("card.py", "command.py", "graded.py", "notebook.py", "prove.py", "record.py", "words.py")


@dataclass(frozen=True)
class KnownAnswer:
    """A right answer: of the corpus, or by other hands."""

    exercise: Exercise
    name: str
    text: str
    before: tuple[str, ...] = ()  # cells that its notebook runs before it


@dataclass(frozen=True)
class AnswerProof:
    """What is known of the questions about one answer."""

    exercise: str
    name: str
    topics: tuple[str, ...]
    wrong: tuple[str, ...] = ()  # questions whose key the third way does not give
    unchecked: tuple[str, ...] = ()  # questions for which it gives none
    given_away: tuple[str, ...] = ()  # questions whose answer stands in their line
    seed: int = 0

    @property
    def keys(self) -> int:
        """The keys that were found in the third way as well."""
        return len(self.topics) - len(self.unchecked)

    def line(self) -> str:
        """What a person reads of it."""
        named = (("wrong", self.wrong), ("no third key", self.unchecked), ("given away", self.given_away))
        told = "".join(f"  {what}: {'; '.join(some)}" for what, some in named if some)
        return f"{self.exercise}/{self.name}: {len(self.topics)} ({', '.join(self.topics)}){told}"


@dataclass
class AnswerProofs:
    """The sums over all answers, each of which may have been asked about with several seeds."""

    proofs: list[AnswerProof] = field(default_factory=list)

    @property
    def keys(self) -> int:
        """The keys that were found in the third way as well."""
        return sum(one.keys for one in self.proofs)

    def summary(self) -> str:
        """One line."""
        count = len(self.proofs)
        enough = sum(len(one.topics) >= WANTED for one in self.proofs)
        asked = sum(len(one.topics) for one in self.proofs)
        wrong, given_away = (sum(len(getattr(one, name)) for one in self.proofs) for name in ("wrong", "given_away"))
        return (
            f"{count} answers: {enough} ({enough / max(count, 1):.1%}) with {WANTED} questions or more; "
            f"{asked} questions, {self.keys} keys found a third way, {wrong} wrong, {given_away} given away by the line"
        )

    @property
    def faults(self) -> int:
        """The questions that should not have been asked."""
        return sum(len(one.wrong) + len(one.given_away) for one in self.proofs)


def samples(names: Sequence[str], limit: int | None, seed: int = 0, blind: Path | None = None) -> list[KnownAnswer]:
    """The right answers of these exercises, or of all; `limit` of them, from all exercises in turn."""
    by_exercise = [list(_of(registry.find(name), blind)) for name in names] if names else [
        list(_of(exercise, blind)) for exercise in registry.exercises()
    ]  # fmt: skip
    for some in by_exercise:
        random.Random(seed).shuffle(some)
    random.Random(seed).shuffle(by_exercise)
    return in_turn(by_exercise)[:limit]


def _of(exercise: Exercise, blind: Path | None) -> Iterator[KnownAnswer]:
    for one in answers(exercise, "right"):
        yield KnownAnswer(exercise, one.stem, without_adapter(one.read_text(encoding="utf-8")))
    folder = blind / exercise.id if blind is not None else None
    if folder is not None and (folder / "right").is_dir():
        setup = folder / "setup.py"
        head = setup.read_text(encoding="utf-8") if setup.exists() else ""
        for path in sorted((folder / "right").glob("*.py")):
            before = (head, *_earlier(exercise))
            text = rewrite(exercise, path.read_text(encoding="utf-8"))
            yield KnownAnswer(exercise, f"blind/{path.stem}", text, before)


def _earlier(exercise: Exercise) -> Iterator[str]:
    """Right answers to the exercises of the unit that come before it: an answer by other hands may use them."""
    if earlier := registry.earlier_in_unit(exercise):
        yield injected_modules.source(earlier)[0]


def prove(sample: KnownAnswer, backend: Backend, seed: int = 0, count: int = WANTED) -> AnswerProof:
    """The proof of the questions about one answer."""
    before = (Cell(f"before-{number}", text) for number, text in enumerate(sample.before))
    code = StudentCode(sample.exercise, sample.text, tuple(before))
    found = questions(code, backend, seed, count)
    wrong, unchecked, given_away = [], [], []
    with CodeRunner(code, backend, CallBudget(calls=CALLS * count)) as run:
        for one in found:
            third = one.find_again(run) if one.find_again is not None else None
            if third is None:
                unchecked.append(one.id)
            elif third != one.key:
                wrong.append(f"{one.id}: {one.key} and {third}")
            if is_given_away(one, sample.text):
                given_away.append(one.id)
    topics = tuple(one.topic for one in found)
    return AnswerProof(sample.exercise.id, sample.name, topics, tuple(wrong), tuple(unchecked), tuple(given_away), seed)


def is_given_away(question: CodeQuestion, text: str) -> bool:
    """Whether the line that a question names has its key as it would be written."""
    line = line_text(text, question.line)
    if question.kind == "shape":
        sizes = ", ".join(map(str, question.key))
        return sizes in line and len(question.key) > 1
    return question.kind == "number" and f" {question.key_text} " in f" {line} "


class ProofRecord:
    """A file with a line of JSON for each proof. Those of another version of the questions or of the answer, and a line
    that was cut off, count as not there.
    """

    def __init__(self, path: Path | None, count: int) -> None:
        self.path, self.count = path, count
        self._known = dict(self._lines()) if path is not None and path.exists() else {}

    def _lines(self) -> Iterator[tuple[str, AnswerProof]]:
        assert self.path is not None
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                found = json.loads(line)
                fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                                          for name, value in found["proof"].items()}  # fmt: skip
                yield found["of"], AnswerProof(**fields)
            except (ValueError, KeyError, TypeError):
                continue

    def _key(self, sample: KnownAnswer, seed: int) -> str:
        about = [sample.exercise.id, sample.name, sample.text, sample.before, seed, self.count, version()]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:24]

    def get(self, sample: KnownAnswer, seed: int) -> AnswerProof | None:
        """The proof, if it was made before."""
        return self._known.get(self._key(sample, seed))

    def add(self, sample: KnownAnswer, proof: AnswerProof) -> None:
        """Append a proof. Raises OSError."""
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps({"of": self._key(sample, proof.seed), "proof": asdict(proof)}))


@cache
def version() -> str:
    """A digest of the code that makes questions and keys: what it proved when it was another says nothing."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in _files_of_keys(Path(__file__).parents[1]))).hexdigest()


def _files_of_keys(package: Path) -> list[Path]:
    """The package's files that keys depend on: of the questions, of the recording, and what draws other code."""
    own = (file for file in (package / "questions").glob("*.py") if file.name not in NOT_KEYS)
    return [*sorted(own), *sorted((package / "localize").glob("*.py")), *(package / name for name in OTHERS)]


def prove_all(
    chosen: Sequence[KnownAnswer],
    backend: Backend,
    seed: int,
    told: Callable[[str], object],
    *,
    keys: int = 0,
    count: int = WANTED,
    record: Path | None = None,
) -> AnswerProofs:
    """The proofs of all these answers, each told as soon as it is there; with other seeds until there are that many
    keys.

    record: a file from which proofs are taken, and to which new ones are appended. Raises OSError.
    """
    done, known = AnswerProofs(), ProofRecord(record, count)
    began, new = time.monotonic(), 0
    for number, (sample, each) in enumerate(_turns(chosen, seed, keys), 1):
        proof = known.get(sample, each)
        if proof is None:
            proof = prove(sample, backend, each, count)
            known.add(sample, proof)
            new += proof.keys
            told(f"{_progress(number, len(chosen), done.keys + proof.keys, keys, new, began)}{proof.line()}")
        done.proofs.append(proof)
        if number >= len(chosen) and done.keys >= keys or number == len(chosen) and not done.keys:
            break
    return done


def _turns(chosen: Sequence[KnownAnswer], seed: int, keys: int) -> Iterable[tuple[KnownAnswer, int]]:
    """Each answer with the first seed, then each with the next one."""
    seeds: Iterable[int] = counting(seed) if keys and chosen else [seed]
    return ((sample, each) for each in seeds for sample in chosen)


def _progress(number: int, answers: int, found: int, keys: int, new: int, began: float) -> str:
    """How far it is and how long the rest will take, in front of a proof."""
    if not keys:
        return f"{number}/{answers}  "
    left = max(keys - found, 0) * (time.monotonic() - began) / max(new, 1) / 60
    return f"{found}/{keys} keys, about {left:.0f} min left  "
