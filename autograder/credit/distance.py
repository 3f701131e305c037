"""Measures how far a failed answer is from a right one; see `rule.Distance` for what counts as evidence.

What is tried is limited by numbers, so that the same answer gets the same points on a busy machine. Limits of processor
time remain for code of ours that may never end, `compose.SET_S` and `mutants.MUTANT_S`: they decide only where one set
of edits, or one mutant, takes seconds for questions that take the student's code none. A box keeps its own limits.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from autograder.api import UNCOMPARED, Exercise
from autograder.checks.probe import Answer as Reply
from autograder.checks.probe import Check, Finding, behaves_like, collect_answers, is_crash, questions
from autograder.checks.reference import reference_of
from autograder.credit.mutants import MUTANT_S, similar_mutants
from autograder.credit.repair import repairs
from autograder.credit.rule import SHARES, Distance
from autograder.diagnosis.compose import CombinedMistakes, agrees, fit
from autograder.diagnosis.diagnose import Misconception, answers_to_compare, known_answers
from autograder.diagnosis.mutations import first_matching, gives
from autograder.exercises.answers import EditedAnswer
from autograder.settings import points

MAX_RUNS = 4  # repaired programs that are run for one answer
MAX_SEARCHED = 12  # known edits that are looked for in the code of an answer that diagnosis cannot name
MIN_WRONG = 2  # wrong answers that a mutant must give, since much gives one by chance
Parts = tuple[EditedAnswer, ...]
Cells = tuple[tuple[str, str], ...]  # ids and sources


@dataclass(frozen=True)
class StudentProgram:
    """A program that can be run: `run_with` grades other sources of cells in a new box, `ask_fresh` asks it anew."""

    cells: Mapping[str, str]  # id -> source of the cells that answer the exercise
    run_with: Callable[[Mapping[str, str]], Sequence[Finding] | None]  # None: the box has nothing to examine
    ask_fresh: Callable[[], Sequence[Finding]]
    weights: Mapping[str, float]  # the course's weights of the properties

    @cached_property
    def _fresh_findings(self) -> Sequence[Finding]:
        return self.ask_fresh()

    @property
    def fresh(self) -> list[Reply]:
        """Its answers to fresh questions, which are asked once."""
        return [reply for one in self._fresh_findings for reply in one.answers]

    @property
    def fresh_core(self) -> list[Reply]:
        """Its answers to the fresh ordinary questions."""
        return [reply for one in self._fresh_findings if one.check.core for reply in one.answers]


@dataclass
class RepairRuns:
    """The repaired programs of an answer that were run, and whether another may be.

    `over`: a repaired program ran out of time. The others would wait for the same loop, and the student for each.
    """

    programs: set[Cells] = field(default_factory=set)
    over: bool = False

    @property
    def may_go_on(self) -> bool:
        """Whether another program may be run."""
        return not self.over and len(self.programs) < MAX_RUNS

    def run(self, program: StudentProgram, cells: Mapping[str, str]) -> Sequence[Finding] | None:
        """What the checks find in this program; None where it was run before, or may not be."""
        key = tuple(cells.items())
        if not self.may_go_on or key in self.programs:
            return None
        self.programs.add(key)
        findings = program.run_with(cells)
        self.over = findings is not None and any(map(_is_out_of_time, findings))
        return findings


def _is_out_of_time(finding: Finding) -> bool:
    return any(getattr(reply.actual, "kind", None) == "timeout" for reply in finding.answers)


def measure(
    exercise: Exercise, findings: Sequence[Finding], names: Sequence[str], program: StudentProgram
) -> Distance | None:
    """The fewest known edits between the answer and a right one, verified; None if there is no evidence for any.

    `names`: the mistakes that diagnosis found in it. An answer that says nothing is at no distance.
    """
    if is_empty(findings):
        return None
    known = {one.stem: one for one in known_answers(exercise) if isinstance(one, EditedAnswer)}
    named = tuple(known[name] for name in names if name in known)
    runs, by_name = RepairRuns(), None
    if named and len(named) == len(names) and fit(named):
        by_name = _by_repair([named], program, runs) or _by_behaviour(named, findings, program)
        if by_name is not None and by_name.share >= SHARES[1]:
            return by_name
    others = _by_repair(_sets(known, program), program, runs) or _by_mutation(exercise, findings, program)
    return max(filter(None, (by_name, others)), key=lambda one: one.share, default=None)


def is_refuted(finding: Finding) -> bool:
    """Whether a repaired program need not be asked further: its ordinary values are wrong."""
    return finding.check.core and bool(finding.failed)


def can_change_points(exercise: Exercise, kept: float, named: Misconception | None) -> bool:
    """Whether a distance could change the points: of an answer that keeps less than a slip does, or whose mistake is
    an error of concept."""
    conceptual = {one.stem for one in known_answers(exercise) if isinstance(one, EditedAnswer) and one.conceptual}
    return kept < SHARES[0] or (named is not None and not conceptual.isdisjoint(named.names))


def share_kept(findings: Sequence[Finding], weights: Mapping[str, float] | None = None) -> float:
    """The share of an exercise's points that these checks earn; 0 where ordinary values are wrong."""
    if any(one.failed and one.check.core and one.check.graded and not one.check.not_run for one in findings):
        return 0.0
    return _share_of([one for one in findings if not one.failed], findings, weights)


def _by_repair(sets: Iterable[Parts], program: StudentProgram, runs: RepairRuns) -> Distance | None:
    """The distance if the answer with one of these sets of edits undone is right, as far as it then earns points."""
    for parts, cells in _repaired(sets, program, runs):
        findings = runs.run(program, cells)
        if findings is not None and (kept := share_kept(findings, program.weights)):
            return _distance(parts, "repaired", kept)
    return None


def _repaired(
    sets: Iterable[Parts], program: StudentProgram, runs: RepairRuns
) -> Iterator[tuple[Parts, dict[str, str]]]:
    """Sets of edits, each with the student's cells in which it is undone, as long as one more may be run."""
    for parts in sets:
        for cells in _repaired_cells(parts, program):
            if not runs.may_go_on:
                return
            yield parts, cells


def _repaired_cells(parts: Parts, program: StudentProgram) -> Iterator[dict[str, str]]:
    right, wrong = parts[0].base.read_text(encoding="utf-8"), CombinedMistakes(parts).read_text()
    for cell, source in program.cells.items():
        yield from (dict(program.cells) | {cell: text} for text in repairs(source, right, wrong))


def _sets(known: Mapping[str, EditedAnswer], program: StudentProgram) -> Iterator[Parts]:
    """Known edits whose wrong side stands in the answer's code: one, then two together."""
    there: list[EditedAnswer] = []
    for one in known.values():
        if len(there) < MAX_SEARCHED and next(_repaired_cells((one,), program), None) is not None:
            there.append(one)
            yield (one,)
    yield from filter(fit, itertools.combinations(there, 2))


def _by_behaviour(parts: Parts, findings: Sequence[Finding], program: StudentProgram) -> Distance | None:
    """The distance if a right answer with these edits gives all of the student's answers to ordinary questions, to
    fresh ones too; as far as it also gives those to the checks of edges and form that the student failed."""
    together = CombinedMistakes(parts)
    core = [reply for one in findings if one.check.core for reply in answers_to_compare(one)]
    if all(map(is_crash, core)) or not agrees(together, core):
        return None
    explained = [one for one in findings if one.check.core or _is_explained(one, together)]
    same = bool(program.fresh_core) and agrees(together, program.fresh_core)
    return _distance(parts, "behaviour", _share_of(explained, findings, program.weights)) if same else None


def _is_explained(finding: Finding, wrong: CombinedMistakes) -> bool:
    """Whether the points of this check are lost by the mistake alone, if they are lost.

    In a coarse dtype two ways to be wrong differ by rounding: there it is enough that numbers are off.
    """
    if not finding.failed:
        return True
    if finding.check.property == "dtypes":
        return all(one.difference is not None and one.difference.deviation is not None for one in finding.failed)
    return agrees(wrong, answers_to_compare(finding))


def _share_of(some: Sequence[Finding], findings: Sequence[Finding], weights: Mapping[str, float] | None) -> float:
    """The share of the points that these checks are worth."""
    counted = [one for one in findings if one.check.graded and not one.check.not_run]
    parts = points.shares([(one.check.property, one.check.weight) for one in counted], 1.0, weights)
    return math.fsum(part for part, one in zip(parts, counted, strict=True) if any(one is other for other in some))


def _by_mutation(exercise: Exercise, findings: Sequence[Finding], program: StudentProgram) -> Distance | None:
    """The distance if a right answer with one mutation gives all of the student's answers, fresh ones too."""
    asked = _asked(findings)
    wrong = [reply for reply in asked if reply.difference is not None and not is_crash(reply)]
    if len(wrong) < MIN_WRONG:
        return None
    mutants = similar_mutants(exercise, "\n".join(program.cells.values()), wrong[0])
    found = first_matching(mutants, lambda one: gives(one[1], [*wrong, *asked], behaves_like), MUTANT_S)
    if found is None or not program.fresh:
        return None
    same = first_matching(iter([found]), lambda one: gives(one[1], program.fresh, behaves_like), MUTANT_S)
    return Distance((found[0],), "behaviour") if same else None


def _asked(findings: Sequence[Finding]) -> list[Reply]:
    """The answers that tell mistakes apart, small questions first."""
    asked = [reply for one in findings if one.check.graded for reply in answers_to_compare(one)]
    return sorted(asked, key=lambda reply: reply.probe.case.size())


def fresh_findings(exercise: Exercise, checks: Sequence[Check], subject: Any, seed: object) -> list[Finding]:
    """The subject's answers to questions that nobody has asked it, of the checks that tell mistakes apart."""
    telling = [check for check in checks if check.graded and check.property not in UNCOMPARED]
    return collect_answers(questions(telling, reference_of(exercise), f"{seed}/{exercise.id}/fresh"), subject)


def _distance(parts: Parts, evidence: Any, kept: float) -> Distance:
    return Distance(tuple(one.stem for one in parts), evidence, kept, any(one.conceptual for one in parts))


def is_empty(findings: Sequence[Finding]) -> bool:
    """Whether the answers to the ordinary questions hold nothing: None, an argument that is handed back, or one and
    the same number everywhere though the right numbers differ. Of code that only crashes nobody knows that."""
    core = [reply for one in findings if one.check.core for reply in one.answers if not is_crash(reply)]
    telling = [reply for reply in core if any(map(_is_varied, _tensors(reply.expected)))]
    if telling:
        return all(map(_says_nothing, telling)) or all(map(_echoes, telling))
    return bool(core) and (all(reply.actual is None for reply in core) or all(map(_echoes, core)) or _one_number(core))


def _one_number(replies: Sequence[Reply]) -> bool:
    """Whether the answer is the same everywhere, though the right answers, which are single numbers, differ."""
    numbers = lambda tree: tuple(float(one) for one in _tensors(tree) if one.numel() == 1)
    given, right = {numbers(one.actual) for one in replies}, {numbers(one.expected) for one in replies}
    return len(given) == 1 < len(right)


def _says_nothing(reply: Reply) -> bool:
    values = _tensors(reply.actual)
    return reply.actual is None or (bool(values) and not any(map(_is_varied, values)) and reply.difference is not None)


def _is_varied(value: Any) -> bool:
    return value.numel() > 1 and value.unique().numel() > 1


def _echoes(reply: Reply) -> bool:
    """Whether the answer is one of the arguments."""
    given = _tensors((reply.probe.case.args, reply.probe.case.kwargs))
    answers = _tensors(reply.actual) if reply.difference is not None else []
    return bool(answers) and all(
        any(one.shape == other.shape and one.dtype == other.dtype and one.equal(other) for other in given)
        for one in answers
    )


def _tensors(tree: Any) -> list[Any]:
    """The tensors of an answer, Python's numbers among them."""
    leaves = (torch.tensor(leaf) if isinstance(leaf, (bool, int, float)) else leaf for leaf in tree_leaves(tree))
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and not leaf.is_complex()]
