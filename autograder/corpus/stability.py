"""Asks the collected answers in boxes at many seeds, since no mark may depend on what was drawn.

An answer gets the seed of its text, so that a comment more draws other inputs. A right answer must therefore pass at
every seed, a wrong one fail at every seed, and one that is wrong only at edges keep the same points at every seed.
What an answer, or its C library, keeps from one seed must not change the next. Yet starting a box takes longer than
most questions, so that eight seeds share one, but for answers that are wrong only at edges; and a right answer that
fails when others were asked before it is asked again, as the first of a new box. A class asks each in a box of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from autograder.api import Exercise, Limits
from autograder.checks.probe import Finding, QuestionSet, collect_answers
from autograder.corpus.judge import ask_reference
from autograder.credit.distance import share_kept
from autograder.exercises import injected_modules, registry
from autograder.exercises.answers import KINDS, Answer, answers
from autograder.sandbox.base import Backend
from autograder.sandbox.client import Cell, SandboxClient

Outcome = tuple[float, str]  # the share of the points, and the first failed check with its message
SHARED = 8  # seeds of an answer in one box
BOX_S = 1800.0  # wall time of a box, on a busy machine; each call keeps its own limit


@dataclass
class Stability:
    """How one exercise's answers fared at every seed."""

    exercise: str
    seeds: int = 0
    right: int = 0
    wrong: int = 0
    edge: int = 0
    unstable: int = 0
    complaints: list[str] = field(default_factory=list)  # a line for each answer that was misjudged at some seed
    notes: list[str] = field(default_factory=list)  # wrong answers that fail everywhere, with other points at some seed

    @property
    def sound(self) -> bool:
        """Whether every answer was judged correctly at every seed."""
        return not self.complaints

    @property
    def line(self) -> str:
        """One line of the report."""
        return (
            f"{self.exercise:32} {self.seeds} seeds  right {self.right:3}  wrong {self.wrong:4}  edge {self.edge:2}  "
            f"not stable {self.unstable}  other points {len(self.notes)}"
        )


def combine(parts: Sequence[Stability]) -> Stability:
    """The sum over all exercises. `seeds` is the same for all of them."""
    whole = Stability("all exercises", max((part.seeds for part in parts), default=0))
    for one in fields(Stability):
        if one.name not in ("exercise", "seeds"):
            setattr(whole, one.name, sum((getattr(part, one.name) for part in parts), getattr(whole, one.name)))
    return whole


def measure_stability(exercise: Exercise, seeds: Sequence[int], backend: Backend) -> Stability:
    """Ask every collected answer in a box, at each of the seeds."""
    drawn: dict[int, list[QuestionSet]] = {}

    def questions_at(seed: int) -> list[QuestionSet]:
        """The questions of this seed, the same for all answers."""
        if seed not in drawn:
            drawn[seed] = ask_reference(exercise, seed)
        return drawn[seed]

    found = Stability(exercise.id, len(seeds))
    for kind in KINDS:
        for path in answers(exercise, kind):
            outcomes: dict[int, Outcome] = {}
            together = 1 if kind == "edge" else SHARED
            while next_seeds := [seed for seed in seeds if seed not in outcomes][:together]:
                with boxed_answer(exercise, path, backend) as subject:
                    for seed in next_seeds:
                        found_here = outcome(kind, questions_at(seed), subject)
                        if kind == "right" and found_here[1] and seed != next_seeds[0]:
                            break
                        outcomes[seed] = found_here
                        if not subject.alive:
                            break
            judge_outcomes(found, kind, f"{kind}/{path.stem}", outcomes)
    return found


def judge_outcomes(found: Stability, kind: str, name: str, outcomes: dict[int, Outcome]) -> None:
    """Count an answer of this kind in `found`, with a complaint or a note if its outcomes by seed call for one."""
    {"right": _judge_right, "edge": _judge_edge}.get(kind, _judge_wrong)(found, name, outcomes)


@contextmanager
def boxed_answer(exercise: Exercise, path: Answer, backend: Backend) -> Iterator[SandboxClient]:
    """A new box in which the answer's code has run."""
    with SandboxClient(backend, Limits(wall_s=BOX_S)) as box:
        box.inject(injected_modules.modules(registry.injected_references(exercise)))
        box.run_cells([Cell(path.stem, path.read_text(encoding="utf-8"))])
        yield box


def outcome(kind: str, question_sets: Sequence[QuestionSet], subject: Any) -> Outcome:
    """The share of the points, and what failed first; it stops as soon as nothing can change the judgement."""
    enough = {"right": _fails, "edge": _never}.get(kind, _costs_everything)
    findings = collect_answers(question_sets, subject, enough)
    first = next((finding for finding in findings if finding.failed), None)
    return share_kept(findings), f"{first.check.name}: {first.message}" if first else ""


def _fails(finding: Finding) -> bool:
    return bool(finding.failed)


def _costs_everything(finding: Finding) -> bool:
    return finding.check.core and bool(finding.failed)


def _never(_: Finding) -> bool:
    return False


def _judge_right(found: Stability, name: str, outcomes: dict[int, Outcome]) -> None:
    found.right += 1
    failed = {seed: why for seed, (_, why) in outcomes.items() if why}
    if failed:
        seed, why = next(iter(failed.items()))
        _complain(found, f"{name} fails {_at(failed, outcomes)}; at {seed}: {why}")


def _judge_wrong(found: Stability, name: str, outcomes: dict[int, Outcome]) -> None:
    found.wrong += 1
    passed = [seed for seed, (_, why) in outcomes.items() if not why]
    if passed:
        _complain(found, f"{name} passes {_at(passed, outcomes)}")
    elif kept := _several(outcomes):
        found.notes.append(f"{name} keeps {kept}")


def _judge_edge(found: Stability, name: str, outcomes: dict[int, Outcome]) -> None:
    found.edge += 1
    if kept := _several(outcomes):
        _complain(found, f"{name} keeps {kept}")


def _complain(found: Stability, complaint: str) -> None:
    found.unstable += 1
    found.complaints.append(complaint)


def _at(some: Sequence[int] | dict[int, str], outcomes: dict[int, Outcome]) -> str:
    return f"at {len(some)} of {len(outcomes)} seeds ({', '.join(map(str, some))})"


def _several(outcomes: dict[int, Outcome]) -> str:
    """The shares of the points with their seeds, if there are several."""
    kept: dict[float, list[int]] = {}
    for seed, (share, _) in outcomes.items():
        kept.setdefault(round(share, 3), []).append(seed)
    if len(kept) < 2:
        return ""
    return ", ".join(f"{share:.2f} {_at(seeds, outcomes)}" for share, seeds in sorted(kept.items()))
