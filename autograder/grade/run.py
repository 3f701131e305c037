"""Grades one submission: each exercise's cells run in a fresh box, and the verdict is formed outside (`verdict`)."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.api import Exercise, Limits, Remark, Verdict
from autograder.checks import device as devices
from autograder.checks.contract import follows_contract
from autograder.checks.probe import Finding, QuestionSet, collect_answers, questions
from autograder.checks.reference import reference_of
from autograder.checks.shrink import shrink_counterexample
from autograder.checks.steps import first_wrong_step
from autograder.credit import distance
from autograder.diagnosis import misconceptions
from autograder.diagnosis.claims import rephrase_untrue_sentences
from autograder.diagnosis.compose import subject_of
from autograder.diagnosis.diagnose import Misconception, counterexample, diagnose
from autograder.diagnosis.kinds import explain
from autograder.diagnosis.refute import is_refuted
from autograder.exercises import contracts, injected_modules, registry
from autograder.exercises.answers import answers
from autograder.exercises.parse import parse_source
from autograder.exercises.section import section_of
from autograder.feedback.translate import say, title_of, translate_text
from autograder.grade.seeds import CellSource, attempt_of, seed_for, sources_of
from autograder.grade.verdict import (
    Attempt,
    finds_the_same,
    has_other_findings,
    stopped_early,
    unwritten_symbols,
    verdict_of,
)
from autograder.localize.fault import describe_change, localize_fault
from autograder.localize.question import question_of_result
from autograder.ordering.answer import at_share, with_programs
from autograder.remarks.find import find_remarks
from autograder.sandbox.client import Cell, CellOutcome, SandboxClient, StudentError
from autograder.settings.credit import DEFAULT, CreditRule

CPU_ALONE = "the CPU alone was asked for"
RESTARTS = 5  # of boxes that a submission's cells ended, after the first box; each costs the time of one
SEARCH_CALL_S = 1.0  # processor time of a call of a changed program; those that never end are many
LONGEST_ANSWER = 20_000  # characters of code in which known edits are looked for; the search is quadratic
COURSE_FORM = (
    "What is said and shown here is about your code in the form of the lesson's text, into which a cell below it turns "
    "it. Your contract: {contract}"
)
OTHER_FORM = (
    "Your code is not in the form of your contract: without the cell below it, which turns it into the form of the "
    "lesson's text, it gives other values. Your contract: {contract}"
)
ENDED_ALONE = (
    "Your code was run without the cell below it, which turns it into the form of the lesson's text, and its process "
    "ended: {error}"
)


@dataclass
class Grader:
    """Grades exercises of one submission. It remembers the cells that end a box or do not finish in time
    (`killer_cells`), so that it waits for each only once, and which of them ended one (`ended_by`)."""

    sources: list[CellSource]
    backend: Any
    submission: str = ""  # what the seeds are drawn for, if they were not drawn elsewhere
    seed: int | None = None  # of every exercise
    device: str = "auto"
    limits: Limits = Limits()
    weights: Mapping[str, float] = field(default_factory=dict)  # the course's weights of the properties
    known: misconceptions.Entries = field(default_factory=dict)  # the course's own misconceptions
    credit: CreditRule = DEFAULT  # how the points of a failed answer are made
    killer_cells: set[str] = field(default_factory=set)
    ended_by: set[str] = field(default_factory=set, init=False)
    seeds: Mapping[str, int] | None = None  # of exercises, drawn with the course's key
    stop_after: Callable[[Finding], bool] | None = None  # a finding after which no further check is put
    explain: bool = True  # whether a failed answer is explained; without, its points are those that its checks earn
    _drawn: tuple[Any, list[QuestionSet]] = (None, [])  # the last exercise's questions, reused for a second attempt

    def grade(self, exercise: Exercise) -> Verdict:
        """The verdict; where the grader itself fails, the verdict is `not_graded` with the reason."""
        verdict = self._without_outcome(exercise, self._seed_of(exercise))
        try:
            where, lack = devices.choose(self.device, self.backend)
            if where == "cuda" and lack:
                return replace(verdict, device=where, reason=f"{lack}; grade with --device cpu")
            return self._grade(exercise, replace(verdict, device=where), lack or CPU_ALONE * (where == "cpu"))
        except Exception as error:  # a fault of the grader: it must not cost the student points
            return replace(verdict, reason=f"the check failed, not the code: {type(error).__name__}: {error}")

    def _seed_of(self, exercise: Exercise) -> int:
        """The seed of its inputs. Raises LookupError if others were drawn, and this one was not: any other would be
        known to everybody."""
        if self.seed is not None:
            return self.seed
        if self.seeds is None:
            return seed_for(None, self.submission, exercise)
        if exercise.id not in self.seeds:
            raise LookupError(f"no seed was drawn for {exercise.id}")
        return self.seeds[exercise.id]

    def _without_outcome(self, exercise: Exercise, seed: int) -> Verdict:
        """A verdict that only says what is graded, and how."""
        return Verdict(
            exercise=exercise.id,
            status="not_graded",
            score=0.0,
            max_score=exercise.points,
            seed=seed,
            sandbox=self.backend.name,
            title=title_of(exercise),
            section=section_of(exercise),
        )

    def _grade(self, exercise: Exercise, verdict: Verdict, lack: str) -> Verdict:
        """The verdict of the attempt that counts; `lack` says why nothing was run on a GPU."""
        found = verdict_of(exercise, verdict, self._decisive(exercise, verdict), lack, self.weights, self.credit)
        return found if self.explain else replace(found, hint=None)  # nobody looked for a name

    def examine(self, exercise: Exercise, seed: int) -> tuple[Verdict, Attempt]:
        """The verdict for this seed on the CPU, and the whole attempt; passes on any exception of the grader."""
        verdict = replace(self._without_outcome(exercise, seed), device="cpu")
        attempt = self._decisive(exercise, verdict)
        return verdict_of(exercise, verdict, attempt, CPU_ALONE, self.weights, self.credit), attempt

    def _decisive(self, exercise: Exercise, verdict: Verdict) -> Attempt:
        """The attempt that counts: with the student's earlier answers, or with reference answers in their place."""
        checks = registry.check_function(exercise)()
        with self._attempt(exercise, checks, verdict, []) as (attempt, student):
            before = [] if attempt.passed or attempt.missing else self._earlier_answers(exercise)
            if before:
                with self._attempt(exercise, checks, verdict, before) as (second, other):
                    if second.passed:  # the mistake is in an earlier exercise, which loses the points
                        return replace(second, cells=attempt.cells)
                    # an answer's own mistake is clearest without those of earlier exercises, but of this attempt
                    # nothing can be shown that comes out of its box
                    if not second.missing and has_other_findings(exercise, second, attempt):
                        return self._explained(second, other, exercise, verdict, before)
                right = _replaced(exercise, before) if finds_the_same(second, attempt) else []
                return self._explained(attempt, student, exercise, verdict, [], right)
            return self._explained(attempt, student, exercise, verdict, [])

    def _earlier_answers(self, exercise: Exercise) -> list[Exercise]:
        """The earlier exercises of the notebook whose symbols its cells use."""
        answered = {source.exercise for source in self._cells(exercise) if source.id != contracts.CELL} | {None}
        before = registry.earlier_in_unit(exercise)
        if answered == {None}:  # a plain file holds only one exercise
            return []
        text = "\n".join(source.text for source in self._cells(exercise))
        return before if any(_is_used(symbol, text) for other in before for symbol in other.symbols) else []

    def _cells(self, exercise: Exercise) -> list[CellSource]:
        """All cells up to the answer to `exercise`, or every cell where it has no answer; under a contract of its own
        also the adapter to the course's form, in which the checks ask."""
        places = [n for n, source in enumerate(self.sources) if source.exercise == exercise.id]
        cells = self.sources[: places[-1] + 1] if places else self.sources
        if exercise.contract is None:
            return cells
        return [*cells, CellSource(contracts.CELL, contracts.adapter(exercise), exercise.id)]

    @contextmanager
    def _attempt(
        self, exercise: Exercise, checks: Sequence, verdict: Verdict, override: list[Exercise]
    ) -> Iterator[tuple[Attempt, Any]]:
        """The outcome in a new box, and the student's code there; the seed and the device are those of `verdict`.

        `override`: earlier exercises whose references take the place of the student's answers. The student's cells can
        read them there, and tell what they read in any exception or value, so the attempt is `withheld`.
        """
        own = {source.id for source in self.sources if source.exercise == exercise.id}
        if any(check.property == "cost" for check in checks):
            self.backend.import_all()  # so that no module counts as memory that the code holds
        lost: CellOutcome | None = None
        while lost is None or lost.id not in own:
            with SandboxClient(self.backend, self.limits) as student:
                if verdict.device != "cpu":
                    student.start_device(verdict.device)
                attempt = Attempt(self._run_cells(student, exercise))
                lost = next((cell for cell in attempt.cells if cell.lost), None)
                if lost is None:
                    self._question(attempt, student, exercise, checks, verdict, override)
                    yield attempt, student
                    return
                self.killer_cells.add(lost.id)  # tried again without it, unless it is the answer itself
                self.ended_by.add(lost.id)
            if len(self.ended_by) > RESTARTS:
                lost = replace(lost, error=f"{lost.error}; {len(self.ended_by)} cells have ended the process")
                break
        attempt.missing = lost.error or "a cell ended the process"
        yield attempt, student

    def _question(
        self, attempt: Attempt, student: SandboxClient, exercise: Exercise, checks: Sequence, verdict: Verdict,
        override: list[Exercise],
    ) -> None:  # fmt: skip
        """Put the checks' questions to the student's code, once its cells have run."""
        try:
            if override:
                attempt.withheld = True
                student.bind(injected_modules.source(override)[0], _replaced(exercise, override))
            attempt.missing = self._undefined(student, exercise, attempt.cells)
        except StudentError as error:  # something that the cells defined broke the protocol with the box
            attempt.missing = f"after your cells: {error}"
        if not attempt.missing:
            self._examine(attempt, student, exercise, checks, verdict)
            ordinary = not any(finding.failed for finding in attempt.findings if finding.check.core)
            if ordinary and exercise.contract:
                attempt.missing = self._other_form(attempt, exercise, verdict, override)
                attempt.follows_contract = not attempt.missing

    def _other_form(self, attempt: Attempt, exercise: Exercise, verdict: Verdict, override: list[Exercise]) -> str:
        """Why what was examined does not count under the contract, as a sentence; "" if it does."""
        assert exercise.contract is not None
        try:
            if self._follows_contract(attempt, exercise, verdict, override):
                return ""
        except StudentError as error:
            return say(ENDED_ALONE, error=str(error))
        return say(OTHER_FORM, contract=translate_text(exercise.contract.sentence, exercise.folder))

    def _follows_contract(
        self, attempt: Attempt, exercise: Exercise, verdict: Verdict, override: list[Exercise]
    ) -> bool:
        """Whether what was examined has the contract's form by itself: it is asked again in a box without the adapter,
        which the cells beside it could skip or deceive. Raises StudentError if it ended two such boxes, of which one
        may be due to a busy machine."""
        try:
            return self._follows_contract_once(attempt, exercise, verdict, override)
        except StudentError:
            return self._follows_contract_once(attempt, exercise, verdict, override)

    def _follows_contract_once(
        self, attempt: Attempt, exercise: Exercise, verdict: Verdict, override: list[Exercise]
    ) -> bool:
        """As `_follows_contract`, in one box. Raises StudentError if the code ended it."""
        bare = self._without_adapter(exercise)
        with SandboxClient(self.backend, self.limits) as student:
            if verdict.device != "cpu":
                student.start_device(verdict.device)
            bare._run_cells(student, contracts.with_contract(exercise, ""))
            if override:
                student.bind(injected_modules.source(override)[0], _replaced(exercise, override))
            subject, reference = _on_device(verdict.device, student, reference_of(exercise))
            return follows_contract(exercise, attempt.findings, reference, subject)

    def _without_adapter(self, exercise: Exercise) -> Grader:
        """A grader of the same cells without the exercise's adapter: the notebook has a copy of it, which need not be
        marked as one."""
        own = contracts.adapter(exercise).rstrip()
        sources = [replace(one, text=one.text.replace("\r\n", "\n").replace(own, "")) for one in self.sources]
        return replace(self, sources=sources, killer_cells=set(self.killer_cells))

    def _is_near_in_another_form(
        self, attempt: Attempt, exercise: Exercise, checks: Sequence, verdict: Verdict, override: list[Exercise]
    ) -> bool:
        """Whether the answer is near to a right one only in another form than its contract's: its values come so from
        the adapter alone, or its ordinary values are right under another contract, and so perhaps somebody else's."""
        if exercise.contract is None:
            return False
        by_behaviour = attempt.distance is not None and attempt.distance.evidence == "behaviour"
        if by_behaviour and not self._follows_contract(attempt, exercise, verdict, override):
            return True
        bare = replace(self._without_adapter(exercise), stop_after=distance.is_refuted)
        for name in ("", *(one.name for one in exercise.contracts if one != exercise.contract)):
            with bare._attempt(contracts.with_contract(exercise, name), checks, verdict, override) as (other, _):
                if not other.missing and not any(map(distance.is_refuted, other.findings)):
                    return True
        return False

    def _examine(self, attempt: Attempt, student: Any, exercise: Exercise, checks: Sequence, verdict: Verdict) -> None:
        subject, reference = _on_device(verdict.device, student, reference_of(exercise))
        key = (exercise.id, verdict.seed, verdict.device)
        if self._drawn[0] != key:
            self._drawn = key, list(self._ask(checks, reference, f"{verdict.seed}/{exercise.id}"))
        attempt.findings = collect_answers(self._drawn[1], subject, self.stop_after)

    def _explained(
        self, attempt: Attempt, student: Any, exercise: Exercise, verdict: Verdict, override: list[Exercise],
        right: Sequence[str] = (),
    ) -> Attempt:  # fmt: skip
        """The attempt with what helps the student if it failed. Only an attempt that counts is worth its cost.

        `right`: symbols of earlier exercises that are not at fault, since references in their place change nothing.
        """
        if not self.explain:
            return attempt
        if attempt.passed and not override and isinstance(student, SandboxClient) and verdict.device == "cpu":
            cells = [s for s in self._cells(exercise) if s.exercise in (exercise.id, None) and not s.setup]
            cells = [s for s in cells if s.id != contracts.CELL]
            own = {s.id for s in cells if s.exercise}
            attempt.remarks = find_remarks(exercise, [(s.id, s.text) for s in cells], own, student, attempt.findings)
        if exercise.contract and not attempt.passed:
            told = say(COURSE_FORM, contract=translate_text(exercise.contract.sentence, exercise.folder))
            attempt.remarks = [*attempt.remarks, Remark("course_form", told)]
        if attempt.passed or attempt.missing:
            return attempt
        attempt.named = diagnose(exercise, attempt.findings)
        if isinstance(student, SandboxClient):  # first, so that what only helps can't change points
            self._measure_distance(attempt, student, exercise, verdict, override)
        if not attempt.withheld:
            with _best_effort(exercise):
                self._find_example(attempt, student, exercise, verdict)
        with _best_effort(exercise):
            self._describe(attempt, student, exercise, verdict)
        if isinstance(student, SandboxClient):  # a box takes definitions that record their values
            with _best_effort(exercise):
                self._localize(attempt, student, exercise, _replaced(exercise, override), right)
            with _best_effort(exercise):
                self._recognise(attempt, student, exercise)
        return attempt

    def _find_example(self, attempt: Attempt, student: Any, exercise: Exercise, verdict: Verdict) -> None:
        """Find the first wrong layer, and the smallest case that fails."""
        subject, reference = _on_device(verdict.device, student, reference_of(exercise))
        attempt.step = first_wrong_step(attempt.findings, subject, reference)
        # answers that fail only at edges agree too, so that no case is shrunk until it becomes an edge case
        ways = ["right"] + ["edge"] * any(f.failed and f.check.property != "edges" for f in attempt.findings)
        right = [subject_of(path) for way in ways for path in answers(exercise, way)]
        attempt.findings = shrink_counterexample(attempt.findings, subject, reference, right)

    def _describe(self, attempt: Attempt, student: Any, exercise: Exercise, verdict: Verdict) -> None:
        """Take back a name that fresh answers refute, and find what can be said of a mistake without one. Of a named
        mistake nothing is said that the code shows to be otherwise."""
        if not attempt.withheld and not stopped_early(attempt):
            self._explain(attempt, student, exercise, verdict)
        source = "\n\n".join(self._answer_of(exercise).values())
        attempt.named = attempt.named and rephrase_untrue_sentences(exercise, attempt.named, source)
        attempt.partly_named = attempt.partly_named and rephrase_untrue_sentences(
            exercise, attempt.partly_named, source
        )

    def _explain(self, attempt: Attempt, student: Any, exercise: Exercise, verdict: Verdict) -> None:
        subject, reference = _on_device(verdict.device, student, reference_of(exercise))
        if attempt.named is not None and is_refuted(exercise, attempt.named, attempt.findings, reference, subject):
            attempt.named = None
        if attempt.named is None and len(unwritten_symbols(exercise, attempt.findings)) < len(exercise.symbols):
            found = explain(exercise, attempt.findings, reference, subject)
            if isinstance(found, Misconception):
                attempt.partly_named = found
            else:
                attempt.explanation = found or ""

    def _ask(self, checks: Sequence, reference: Any, seed: str) -> Iterator[QuestionSet]:
        """The questions of these checks, with the reference's answers."""
        return questions(checks, reference, seed)

    def _localize(
        self, attempt: Attempt, student: SandboxClient, exercise: Exercise, replaced: list[str], right: Sequence[str]
    ) -> None:
        """Find the line where a failed answer departs. It runs last, so that it can't affect the points.
        `replaced`: the symbols that are not the student's; `right`: those of other cells that are not at fault."""
        if not student.alive or len(unwritten_symbols(exercise, attempt.findings)) == len(exercise.symbols):
            return
        kept = [one for one in self._cells(exercise) if not one.setup or one.text.startswith(contracts.HEAD)]
        cells = [(source.id, source.text) for source in kept]
        others = {source.id for source in self.sources if source.exercise not in (exercise.id, None)}
        own = {source.id for source in self.sources if source.exercise == exercise.id}
        example = None if attempt.withheld else counterexample(exercise, attempt.findings)
        found = localize_fault(exercise, attempt.findings, student, cells, replaced, others, right, own, example)
        place = None if replaced else _place_of_change(attempt, own)  # else right code in other cells helped, too
        if place is not None and (found is None or found["line"] is None):
            found = describe_change(place, dict(cells)) | {"question": found and found["question"]}
        attempt.departure = found
        attempt.relation = found.pop("relation") if found else ""
        attempt.question = found.pop("question") if found else None
        if attempt.question is None and not attempt.withheld:
            attempt.question = question_of_result(attempt.findings, example)

    def _measure_distance(
        self, attempt: Attempt, student: SandboxClient, exercise: Exercise, verdict: Verdict, override: list[Exercise]
    ) -> None:
        """Find how few known edits lead to a right answer, where the rule of credit asks for it."""
        found, kept = attempt.named, distance.share_kept(attempt.findings, self.weights)
        if self.credit == "checks" or not student.alive or not distance.can_change_points(exercise, kept, found):
            return
        checks = registry.check_function(exercise)()

        def run_with(cells: Mapping[str, str]) -> list[Finding] | None:
            """What the checks find in a new box, with these sources in place of the student's."""
            sources = [replace(source, text=cells.get(source.id, source.text)) for source in self.sources]
            other = replace(self, sources=sources, killer_cells=set(self.killer_cells), stop_after=distance.is_refuted)
            with other._attempt(exercise, checks, verdict, override) as (tried, _):
                return None if tried.missing else tried.findings

        def ask_fresh(core: bool) -> list[Finding]:
            """The student's answers to new questions, of ordinary checks or of the others."""
            (subject,) = _on_device(verdict.device, student)
            return distance.fresh_findings(exercise, checks, subject, verdict.seed, core)

        @contextmanager
        def open_box() -> Iterator[SandboxClient | None]:
            """A new box with the student's cells, for short calls, where nothing runs on another device."""
            if verdict.device != "cpu":
                yield None
                return
            with SandboxClient(self.backend, replace(self.limits, call_s=SEARCH_CALL_S)) as box:
                self._run_cells(box, exercise)
                if override:
                    box.bind(injected_modules.source(override)[0], _replaced(exercise, override))
                yield box

        program = distance.StudentProgram(self._answer_of(exercise), run_with, ask_fresh, self.weights, open_box)
        try:
            attempt.distance = distance.measure(exercise, attempt.findings, found.names if found else (), program)
            if attempt.distance and self._is_near_in_another_form(attempt, exercise, checks, verdict, override):
                attempt.distance = None
        except Exception:  # what a student wrote may break the search in any way; the checks' points are sure
            attempt.distance = None
            logging.getLogger(__name__).warning("no distance could be measured for %s", exercise.id, exc_info=True)

    def _answer_of(self, exercise: Exercise) -> dict[str, str]:
        """id -> source of the cells that may hold the answer: the exercise's, then others as far as there is room."""
        cells = [source for source in self._cells(exercise) if not source.setup]
        own = [source for source in cells if source.exercise == exercise.id]
        free = [source for source in cells if source.exercise is None and source.id not in self.killer_cells]
        found: dict[str, str] = {}
        for source in own + free:
            if sum(map(len, found.values())) + len(source.text) <= LONGEST_ANSWER:
                found[source.id] = source.text
        return found

    def _recognise(self, attempt: Attempt, student: SandboxClient, exercise: Exercise) -> None:
        """Find the course's misconception that a failed answer behaves like. It runs last and can't change points."""
        entries = self.known.get(exercise.id, ())
        if not student.alive or not entries:
            return
        if entry := misconceptions.recognise(exercise, entries, student):
            attempt.recognised = Misconception(entry["name"], entry["sentence"])

    def _run_cells(self, student: SandboxClient, exercise: Exercise) -> list[CellOutcome]:
        student.inject(injected_modules.modules(registry.injected_references(exercise)))
        own = {source.id for source in self.sources if source.exercise == exercise.id}
        cells = [s for s in self._cells(exercise) if s.id not in self.killer_cells or s.id in own]
        outcomes = student.run_cells([Cell(source.id, source.text) for source in cells])
        self.killer_cells |= {cell.id for cell in outcomes if cell.timed_out}
        return outcomes

    def _undefined(self, student: SandboxClient, exercise: Exercise, cells: list[CellOutcome]) -> str:
        for symbol in exercise.symbols:
            if student.kind(symbol) is None:
                what = "class" if symbol[:1].isupper() else "function"
                return f"no {what} `{symbol}` is defined{self._because(exercise, cells)}"
        return ""

    def _because(self, exercise: Exercise, cells: list[CellOutcome]) -> str:
        by_id = {cell.id: cell for cell in cells}
        own = [source for source in self.sources if source.exercise in (exercise.id, None)]
        for source in [s for s in own if s.exercise] + [s for s in own if not s.exercise]:
            outcome = by_id.get(source.id)
            if outcome is None or not outcome.error:
                continue
            return f": {_located(source.text, outcome)}"
        return ""


@contextmanager
def _best_effort(exercise: Exercise) -> Iterator[None]:
    """What explains a failed answer may fail: that is logged, and the verdict is the same without it."""
    try:
        yield
    except Exception:  # what a student wrote may break an explanation in any way; the checks' points are sure
        logging.getLogger(__name__).warning("a failed answer to %s is not explained", exercise.id, exc_info=True)


def _is_used(symbol: str, text: str) -> bool:
    """Whether a source names the symbol anywhere but where it defines it."""
    return re.search(rf"(?<!def )(?<!class )\b{symbol}\b", text) is not None


def _replaced(exercise: Exercise, override: list[Exercise]) -> list[str]:
    """The symbols of earlier exercises that are not the student's own."""
    return [symbol for other in override for symbol in other.symbols if symbol not in exercise.symbols]


def _place_of_change(attempt: Attempt, own: Collection[str]) -> tuple[str, int] | None:
    """The student's own cell and the line of which one change made an answer with an unnamed mistake right."""
    if attempt.distance is None or attempt.distance.place is None or attempt.named or attempt.withheld:
        return None
    return attempt.distance.place if not own or attempt.distance.place[0] in own else None


def _on_device(device: str, *subjects: Any) -> tuple[Any, ...]:
    """The subjects as they are called on this device."""
    return subjects if device == "cpu" else tuple(devices.DeviceSubject(one, device) for one in subjects)


def _located(text: str, outcome: CellOutcome) -> str:
    """The error message of a cell, with the line number where it is a syntax error."""
    if outcome.timed_out:
        return "its cell did not finish in time"
    try:
        parse_source(text)
    except SyntaxError as error:
        where = f" in line {error.lineno}" if error.lineno else ""
        return f"its cell has a syntax error{where} ({error.msg})"
    return f"its cell stopped with {outcome.error}"


def grade_source(exercise: Exercise, source: str, *, backend: Any, file: str = "", **how: Any) -> Verdict:
    """Grade a plain Python source. Keywords as Grader's: submission, seed, device, limits, known."""
    how.setdefault("submission", hashlib.sha256(source.encode()).hexdigest())
    return replace(Grader([CellSource("source", source)], backend, **how).grade(exercise), file=file)


def grade_notebook(
    nb: Any,
    exercises: Sequence[Exercise],
    *,
    backend: Any,
    seeds: Mapping[str, int] | None = None,
    student: str = "",
    device: str = "auto",
    progress: Callable[..., object] | None = None,
    seed: int | None = None,
    limits: Limits | None = None,
    weights: Mapping[str, float] | None = None,
    known: misconceptions.Entries | None = None,
    credit: CreditRule = DEFAULT,
    ordered: float = 0.0,
) -> list[Verdict]:
    """Grade these exercises of a notebook (a dict in nbformat 4). `progress` is called with each verdict at once.

    `seeds`: of the exercises' inputs, as `seeds.seeds_for` draws them; without, those that anybody can draw.
    `weights`: the properties' weights, from `autograder.settings.points.read`; `known`: the course's own
    misconceptions, from `autograder.diagnosis.misconceptions.read`; `credit`: the rule of
    credit (`autograder.credit.rule`); `ordered`: the share of the points that an order of lines earns in the place of
    code (`autograder.ordering.answer`), 0 where none is taken.
    """
    sources = sources_of(nb)
    attempt = attempt_of(student, sources)
    sources, in_order = with_programs(sources, exercises, student) if ordered else (sources, frozenset())
    grader = Grader(
        sources, backend, attempt, seed, device, limits or Limits(), weights or {}, known or {}, credit, seeds=seeds
    )
    verdicts = []
    for exercise in exercises:
        verdicts.append(at_share(grader.grade(exercise), in_order, ordered))
        if progress is not None:
            progress(verdicts[-1])
    return verdicts


__all__ = ["CellSource", "Grader", "StudentError", "grade_notebook", "grade_source", "seed_for", "sources_of"]
