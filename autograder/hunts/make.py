"""Makes hunts: a right answer of an exercise with one or several of its collected mistakes.

The right answer that was edited is the repair, and the edited lines are where the faults are. Of an exercise under
another contract both are in its form, and the adapter to the course's form is left out. Loads no torch.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from autograder.api import Exercise
from autograder.diagnosis.compose import are_compatible
from autograder.exercises import registry
from autograder.exercises.answers import EditedAnswer, answers
from autograder.exercises.contracts import full_id, with_contract, without_adapter
from autograder.exercises.edits import Replacement, apply_replacements
from autograder.exercises.variants import variant

MAX_CHANGED = 4  # lines of one fault: with more of them the answer is another program, not one with a fault
MAX_FAULTS = 3
JOIN = "+"  # between the names of several faults in an id


class UnknownHunt(Exception):
    """There is no such hunt; the message names similar ones."""


@dataclass(frozen=True)
class Hunt:
    """Code with faults. `id` names the faults, so it is not for students; `title` is."""

    exercise: Exercise
    faults: tuple[EditedAnswer, ...]

    @property
    def id(self) -> str:
        """`masks.causal/sees_one_ahead`; several faults are joined by `+`."""
        return f"{self.exercise.id}/{JOIN.join(self.names)}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the faults, as a verdict has them."""
        return tuple(fault.stem for fault in self.faults)

    @cached_property
    def repair(self) -> str:
        """The smallest repair that is known: the right answer from which the faulty code was made."""
        return without_adapter(self._base)

    @cached_property
    def code(self) -> str:
        """The faulty code, without any sentence on what is wrong."""
        return self._with(self.faults)

    @cached_property
    def fault_lines(self) -> tuple[tuple[int, ...], ...]:
        """For each fault its lines in `code`, from 1 on; where a line is missing, those around the gap."""
        every = self._replacements(self.faults)
        return tuple(
            tuple(sorted({line for one in fault.replacements for line in _lines_of(one, every)}))
            for fault in self.faults
        )

    @property
    def changed_lines(self) -> int:
        """The number of lines that the smallest known repair changes."""
        return changed_lines(self.code, self.repair)

    def without(self, fault: EditedAnswer) -> str:
        """The code in which this one fault is repaired."""
        return self._with([other for other in self.faults if other != fault])

    @cached_property
    def _base(self) -> str:
        """The right answer with the adapter to the course's form, if it is in another one."""
        return self.faults[0].base.read_text(encoding="utf-8")

    def _with(self, faults: Sequence[EditedAnswer]) -> str:
        """The right answer with these faults."""
        return without_adapter(apply_replacements(self._base, self._replacements(faults)))

    @staticmethod
    def _replacements(faults: Sequence[EditedAnswer]) -> list[Replacement]:
        return sorted({one for fault in faults for one in fault.replacements})


def _lines_of(one: Replacement, every: Sequence[Replacement]) -> Iterator[int]:
    """The lines of one replacement in the code where all of them are made."""
    start = one.start + sum(len(other.lines) - (other.end - other.start) for other in every if other < one)
    if one.lines:
        yield from range(start + 1, start + len(one.lines) + 1)
    else:
        yield from (line for line in (start, start + 1) if line > 0)


def changed_lines(before: str, after: str) -> int:
    """The number of lines in which two programs differ, without blank ones."""
    old, new = ([line for line in text.splitlines() if line.strip()] for text in (before, after))
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in blocks if tag != "equal")


def changed_places(before: str, after: str) -> tuple[int, ...]:
    """The lines of `before`, from 1 on, that `after` has otherwise; where it has more, those around the gap."""
    old, new = before.splitlines(), after.splitlines()
    places: set[int] = set()
    for tag, i1, i2, _, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            places |= set(range(i1 + 1, i2 + 1)) or {line for line in (i1, i1 + 1) if 0 < line <= len(old)}
    return tuple(sorted(places))


def hunts(exercise: Exercise, faults: int = 1) -> list[Hunt]:
    """The exercise's hunts with so many faults each, in the order of their ids. Raises BadCorpus."""
    edits = [one for one in answers(exercise, "wrong") if isinstance(one, EditedAnswer) and _is_small(one)]
    sets = itertools.combinations(edits, faults)
    return [Hunt(exercise, parts) for parts in sets if are_compatible(parts)]


def _is_small(fault: EditedAnswer) -> bool:
    return sum(max(one.end - one.start, len(one.lines)) for one in fault.replacements) <= MAX_CHANGED


def find(id: str) -> Hunt:
    """The hunt of this id. Raises UnknownHunt, or UnknownExercise of the registry."""
    name, _, faults = id.partition("/")
    exercise = registry.find(name)
    wanted = set(faults.split(JOIN))
    small = {hunt.names[0] for hunt in hunts(with_contract(exercise, ""))}
    known = {one.stem: one for one in answers(exercise, "wrong") if isinstance(one, EditedAnswer) and one.stem in small}
    if unknown := sorted(wanted - known.keys()):
        near = difflib.get_close_matches(unknown[0], known, n=3, cutoff=0.0)
        raise UnknownHunt(f"{name} has no fault called {unknown[0]!r}; some of its {len(known)}: {', '.join(near)}")
    parts = tuple(known[fault] for fault in sorted(wanted))
    if not are_compatible(parts):
        raise UnknownHunt(f"{id}: these faults change the same lines, so no code can have them together")
    return Hunt(exercise, parts)


def draw(exercise: Exercise, student: str | None, seed: int, faults: int = 1) -> Hunt:
    """The student's hunt for this seed, by default that of the current user. Raises UnknownHunt if there is none.

    Under another contract the faults are those that are drawn under the course's own.
    """
    among = hunts(with_contract(exercise, ""), faults)
    if not among:
        raise UnknownHunt(f"{exercise.id} has no hunt with {faults} faults: ask for fewer")
    drawn: Hunt = variant(f"hunt/{exercise.id}/{seed}", student, hunt=among).hunt
    return drawn if exercise.contract is None else find(f"{full_id(exercise)}/{JOIN.join(drawn.names)}")
