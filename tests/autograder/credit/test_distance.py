"""How far an answer is from a right one, and what counts as evidence for it."""

import ast
from contextlib import nullcontext
from dataclasses import replace

import pytest

from autograder.checks.compare import Difference
from autograder.checks.local import LocalSubject
from autograder.checks.probe import Answer as Reply
from autograder.checks.probe import Check, Finding, examine
from autograder.checks.properties.cost import OTHER_VALUES
from autograder.checks.reference import reference_of
from autograder.credit import distance, mutants
from autograder.exercises import registry
from autograder.exercises.answers import EditedAnswer, answers
from autograder.grade import run
from autograder.sandbox import choose
from autograder.sandbox.client import StudentError
from course import exercises

PADDING = next(one for one in exercises() if one.id == "masks.padding")
ATTEND = next(one for one in exercises() if one.id == "attention.attend")
DPO = next(one for one in exercises() if one.id == "tuning.dpo")
DISTILLATION = next(one for one in exercises() if one.id == "objectives.distillation")
CHECKS = registry.check_function(PADDING)()


def findings_of(source, seed=3):
    namespace = {}
    exec(source, namespace)
    return examine(CHECKS, LocalSubject(namespace), reference_of(PADDING), f"{seed}/{PADDING.id}")


def mask(text):
    return f"import torch\n\ndef padding_mask(ids, pad_id):\n    return {text}\n"


def measured(source, names=(), run_with=lambda cells: None, shown=None, fresh=None):
    """The distance, where the repaired program is run in this process, `shown` is the code that is searched, and
    `fresh` what answers fresh questions."""
    ask_fresh = lambda core: [one for one in findings_of(fresh or source, 4) if one.check.core is core]
    program = distance.StudentProgram({"cell": shown or source}, run_with, ask_fresh, {})
    return distance.measure(PADDING, findings_of(source), names, program)


INVERTED = mask("(ids == pad_id)[:, None, None, :]")
RIGHT = findings_of(INVERTED.replace("==", "!="))
ROW_BY_ROW = mask("torch.stack([row == pad_id for row in ids])[:, None, None]")
BY_ANOTHER_HAND = mask("torch.stack([row.eq(pad_id) for row in ids])[:, None, None]")


def test_the_repaired_program_is_run_and_what_it_earns_counts():
    tried = []
    found = measured(INVERTED, ["marks_the_padding"], lambda cells: tried.append(cells) or findings_of(cells["cell"]))
    assert (found.mistakes, found.evidence, found.kept) == (("marks_the_padding",), "repaired", 1.0)
    assert "ids != pad_id" in tried[0]["cell"]


def test_a_repair_that_leaves_the_program_wrong_is_no_evidence():
    also_wrong = findings_of(mask("(ids > pad_id)[:, None, None, :]"))
    found = measured(INVERTED, ["marks_the_padding"], lambda cells: also_wrong)
    assert found.evidence == "behaviour"  # the program is left wrong, but its behaviour is that of the mistake


def test_where_nothing_can_be_undone_the_same_behaviour_on_fresh_questions_is_the_evidence():
    found = measured(BY_ANOTHER_HAND, ["marks_the_padding"])
    assert (found.evidence, found.edits) == ("behaviour", 1)


def test_a_name_without_the_behaviour_is_no_evidence():
    assert measured(mask("(ids % 2 == pad_id)[:, None, None, :]"), ["marks_the_padding"]) is None


def test_an_edit_that_diagnosis_has_not_named_is_found_in_the_code():
    found = measured(INVERTED, [], lambda cells: findings_of(cells["cell"]))
    assert (found.mistakes, found.evidence) == (("marks_the_padding",), "repaired")


def test_noise_and_answers_that_hold_nothing_are_at_no_distance():
    for text in ("ids", "ids[:, None, None, :]", "None", "torch.ones(len(ids), 1, 1, ids.shape[1], dtype=torch.bool)"):
        assert distance.is_empty(findings_of(mask(text))), text
        assert (
            measured(mask(text), ["marks_the_padding"], lambda cells: findings_of(INVERTED.replace("==", "!="))) is None
        )
    assert not distance.is_empty(findings_of(INVERTED))
    assert measured(mask("(torch.rand(ids.shape) < 0.5)[:, None, None, :]")) is None


def test_one_number_is_an_answer_if_it_differs_from_question_to_question():
    known = {one.stem: one.read_text() for one in answers(DISTILLATION, "wrong")}
    for text, empty in (
        (known["cosine_along_the_sentence"], False),
        ("def distillation_loss(*a, **k):\n    import torch\n    return torch.tensor(1.5)", True),
    ):
        namespace = {}
        exec(text, namespace)
        subject = LocalSubject({name: namespace[name] for name in DISTILLATION.symbols})
        found = examine(registry.check_function(DISTILLATION)(), subject, reference_of(DISTILLATION), "3")
        assert distance.is_empty(found) is empty


@pytest.mark.parametrize("junk", ["y = " + "+".join(["1"] * 900), "x = '\\ud800'", "y = " + "-" * 3000 + "1"])
def test_no_other_cell_keeps_an_answer_from_being_graded(junk):
    source = next(one for one in answers(ATTEND, "wrong") if one.stem == "mask_inverted").read_text()
    sources = [run.CellSource("b", junk, None), run.CellSource("a", source, ATTEND.id)]
    verdict = run.Grader(sources, backend=choose()).grade(ATTEND)
    assert (verdict.status, verdict.distance) == ("failed", 1), verdict.reason


def test_a_long_scratch_cell_is_not_searched():
    own, scratch = run.CellSource("a", "def f(): ...", ATTEND.id), run.CellSource("b", "x(y)\n" * 100_000, None)
    assert list(run.Grader([scratch, own], backend=choose())._answer_of(ATTEND)) == ["a"]


def test_the_search_is_limited_by_tries_and_not_by_time(monkeypatch):
    tried = []
    monkeypatch.setattr(distance, "MAX_RUNS", 2)
    monkeypatch.setattr(distance, "_repaired_cells", lambda parts, trial: ({"cell": str(n)} for n in range(9)))
    measured(INVERTED, ["marks_the_padding"], lambda cells: tried.append(cells))
    assert len(tried) == 2


def test_after_a_repaired_program_that_runs_out_of_time_no_other_is_run(monkeypatch):
    tried = []
    monkeypatch.setattr(distance, "_repaired_cells", lambda parts, trial: ({"cell": str(n)} for n in range(9)))
    slow = "from autograder.sandbox.client import StudentError\n\ndef padding_mask(ids, pad_id):\n    {}"
    over = findings_of(slow.format("raise StudentError('timeout', 'it did not finish in 10 s')"))
    assert all(answer.actual.kind == "timeout" for finding in over for answer in finding.answers)
    found = measured(INVERTED, ["marks_the_padding"], lambda cells: tried.append(cells) or over)
    assert len(tried) == 1 and found.evidence == "behaviour"


SHORTENED = mask("(ids != pad_id)[:, None, None, 1:]")


def test_a_mutation_that_nobody_collected_is_recognised_by_its_behaviour():
    found = measured(SHORTENED)
    assert (found.evidence, found.edits, found.kept) == ("behaviour", 1, 1.0)
    assert found.mistakes[0] not in {one.stem for one in answers(PADDING, "wrong")}  # an operator, not a name


def test_a_mutation_that_fresh_questions_refute_is_no_evidence():
    assert measured(SHORTENED, fresh=mask("(ids != pad_id)[:, None, None, :-1]")) is None


def test_fresh_questions_are_asked_once():
    asked = []
    program = distance.StudentProgram({"cell": ""}, lambda cells: None, lambda core: asked.append(core) or RIGHT, {})
    assert program.fresh_core and asked == [True]  # the others only for what asks for them
    assert program.fresh and program.fresh_core and asked == [True, False]


def test_no_repaired_program_is_run_twice(monkeypatch):
    tried = []
    monkeypatch.setattr(distance, "_repaired_cells", lambda parts, program: ({"cell": text} for text in "aab"))
    measured(INVERTED, ["marks_the_padding"], lambda cells: tried.append(cells["cell"]), shown=BY_ANOTHER_HAND)
    assert tried == ["a", "b"]


def test_the_likeliest_program_is_mutated_first():
    source = SHORTENED
    witness = next(answer for one in findings_of(source) for answer in one.failed)
    operators = [operator for operator, _ in mutants.similar_mutants(PADDING, source, witness)]
    assert 0 < len(operators) <= mutants.MAX_MUTANTS
    nearest = mutants.nearest_programs(PADDING, INVERTED)[0]
    assert "ids != pad_id" in ast.unparse(nearest.tree)
    assert mutants.nearest_programs(PADDING, "def padding_mask(:") == []


def test_a_verdict_has_the_distance_and_the_same_at_every_grading():
    source = next(one for one in answers(ATTEND, "wrong") if one.stem == "mask_inverted").read_text()
    found = [run.grade_source(ATTEND, source, backend=choose()) for _ in range(2)]
    assert found[0] == found[1]
    assert (found[0].distance, found[0].score) == (1, round(0.7 * ATTEND.points, 2))
    assert found[0].as_json()["distance"] == 1


def test_an_error_of_concept_keeps_no_more_than_a_slip_even_if_its_checks_earn_more():
    known = {one.stem: one for one in answers(DPO, "wrong") if isinstance(one, EditedAnswer)}
    assert known["reference_learns"].conceptual and not known["log_of_sigmoid"].conceptual
    concept, slip = (run.grade_source(DPO, known[name].read_text(), backend=choose())
                     for name in ("reference_learns", "log_of_sigmoid"))  # fmt: skip
    assert concept.score == round(0.7 * DPO.points, 2) < slip.score
    by_checks = run.grade_source(DPO, known["reference_learns"].read_text(), backend=choose(), credit="checks")
    assert by_checks.score == slip.score


def test_a_mistake_in_code_of_its_own_keeps_what_its_other_properties_earn():
    """Its rounding in bfloat16 is not that of the collected mistake, which costs nothing, nor are its large scores."""
    verdict = run.grade_source(ATTEND, """
import torch
def attend(query, keys, mask):
    scores = torch.bmm(keys, query[:, :, None])[:, :, 0].masked_fill(~mask, float("-inf"))
    weights = (scores - scores.max()).exp()
    weights = weights / weights.sum(0).clamp(min=1e-30)
    return torch.bmm(weights[:, None, :], keys)[:, 0, :], weights
""", backend=choose())  # fmt: skip
    assert verdict.misconceptions == ("softmax_over_the_batch",) and verdict.distance == 1
    other = sum(one.of for one in verdict.checks if one.name == "very large scores")
    assert other > 0 and verdict.score == pytest.approx(0.7 * (verdict.max_score - other), abs=0.01)


def test_a_collected_mistake_that_is_a_program_of_its_own_is_at_no_distance():
    verdict = run.grade_source(next(one for one in exercises() if one.id == "convbert.dynamic_conv"), """
import math
import torch
def span_dynamic_conv(value, kernel_logits):
    length, width = kernel_logits.shape[-2:]
    source = torch.arange(length)[:, None] + torch.arange(width) - width // 2
    weights = kernel_logits.masked_fill((source < 0) | (source >= length), -math.inf).softmax(-1)
    return (weights.unsqueeze(-1) * value[..., source.clamp(0, length - 1), :]).sum(-2)
""", backend=choose())  # fmt: skip
    assert verdict.misconceptions == ("renormalised_at_the_ends",) and verdict.distance is None


def test_behaviour_that_fresh_questions_refute_is_no_evidence():
    inverted = BY_ANOTHER_HAND
    assert measured(inverted, ["marks_the_padding"]).evidence == "behaviour"
    found = measured(inverted, ["marks_the_padding"], fresh=mask("(ids == pad_id)[:, None, None, :] | True"))
    assert found is None or found.mistakes != ("marks_the_padding",)


MERGE = next(one for one in exercises() if one.id == "fast.merge")
UNNAMED = """
import torch
def merge_attention(o1, lse1, o2, lse2):
    lse = torch.logaddexp(lse1, lse2)
    safe = lse.masked_fill(lse == float("-inf"), 0.0)
    a = torch.exp(lse1 - safe)
    b = torch.exp(lse2 - safe)
    return a * o1 + b * o2, lse
"""


def test_an_answer_that_only_stops_is_repaired_by_a_change_of_its_own_code():
    """Nothing is named from crashes, and no right answer is written like this."""
    verdict = run.grade_source(MERGE, UNNAMED, backend=choose())
    assert (verdict.status, verdict.misconceptions, verdict.distance) == ("failed", (), 1)
    assert verdict.score == round(0.7 * MERGE.points, 2)


def test_other_code_is_at_no_distance_by_a_change():
    verdict = run.grade_source(MERGE, """
import torch
def merge_attention(o1, lse1, o2, lse2):
    return (o1 + o2) / 2, torch.maximum(lse1, lse2)
""", backend=choose())  # fmt: skip
    assert (verdict.status, verdict.distance, verdict.score) == ("failed", None, 0.0)


class LocalBox:
    """A box in this process, which counts what it is asked."""

    def __init__(self, seconds=()):
        self.space, self.ran, self.alive = {}, [], True
        self.endless = set(seconds)

    def run_cells(self, cells):
        exec(INVERTED, self.space)

    def call(self, name, *args, **kwargs):
        try:
            if name != distance.RUN_AGAIN:
                return self.space[name](*args, **kwargs)
            self.ran.append(args[0])
            if len(self.ran) not in self.endless:
                return exec(args[0], self.space)
        except Exception as error:
            raise StudentError("exception", str(error)) from None
        raise StudentError("timeout", "it did not finish")

    def limit_answer(self, size):
        pass


def by_change(box, run_with):
    program = distance.StudentProgram({"cell": ROW_BY_ROW}, run_with, lambda core: RIGHT, {}, lambda: nullcontext(box))
    return distance._by_change(PADDING, findings_of(ROW_BY_ROW), program)


def test_only_what_became_right_in_the_box_is_run_with_all_checks():
    box, tried = LocalBox(), []
    found = by_change(box, lambda cells: tried.append(cells["cell"]) or findings_of(cells["cell"]))
    assert (found.edits, found.evidence, found.kept) == (1, "repaired", 1.0)
    assert len(tried) == 1 < len(box.ran) and not any(one.failed for one in findings_of(tried[0]))
    cell, line = found.place
    assert cell == "cell" and "row == pad_id" in ROW_BY_ROW.splitlines()[line - 1]


def test_the_line_of_a_change_that_passes_all_checks_is_marked_where_no_other_is_sure(monkeypatch):
    monkeypatch.setattr(
        distance, "measure", lambda *_: distance.Distance(("drop_call",), "repaired", place=("source", 6))
    )
    found = run.grade_source(MERGE, UNNAMED, backend=choose()).departure
    assert found["line"] == 8, "the line that is shown to be at fault"
    monkeypatch.setattr(run, "localize_fault", lambda *_: None)
    found = run.grade_source(MERGE, UNNAMED, backend=choose()).departure
    assert (found["line"], found["text"], found["steps"]) == (6, "a = torch.exp(lse1 - safe)", [])
    assert found["sentence"].startswith("a change of this line alone makes your code right")


def test_no_line_is_marked_for_a_change_that_leaves_a_check_failing():
    half = [replace(one, check=replace(one.check, core=False)) for one in findings_of(INVERTED)]
    found = by_change(LocalBox(), lambda cells: [*findings_of(cells["cell"]), *half])
    assert found.kept < 1 and found.place is None


NON_ANSWERS = [
    ("masks.causal", "causal_mask(length)", "torch.rand(length, length) > 0.5"),
    ("masks.causal", "causal_mask(length)", "torch.arange(length)[None, :] * torch.arange(length)[:, None] > 0"),
    ("masks.causal", "causal_mask(length)", "torch.zeros(length, length, dtype=torch.bool)"),
    ("masks.padding", "padding_mask(ids, pad_id)", "(ids + pad_id)[None, None, None, :]"),
    ("masks.padding", "padding_mask(ids, pad_id)", "ids[:, None, None, :]"),
    ("masks.padding", "padding_mask(ids, pad_id)", "ids[:, torch.randperm(ids.shape[1])][:, None, None, :] != 0"),
    ("masks.softmax", "masked_softmax(scores, mask)", "scores"),
    ("transformer.shift_right", "shift_right(ids, start_id)", "torch.full_like(ids, start_id)"),
    ("tuning.reward_loss", "reward_loss(chosen, rejected)", "(0 * (chosen - rejected)).mean()"),
]


@pytest.mark.parametrize(("name", "head", "value"), NON_ANSWERS)
def test_what_is_no_answer_keeps_only_what_its_checks_earn(name, head, value):
    source = f"import torch\n\n\ndef {head}:\n    return {value}\n"
    verdict = run.grade_source(registry.find(name), source, backend=choose())
    assert (verdict.status, verdict.distance) == ("failed", None), verdict.score


def test_a_change_of_the_answers_own_code_keeps_no_more_than_a_collected_mistake():
    found = by_change(LocalBox(), lambda cells: findings_of(cells["cell"]))
    best = max(distance._distance((one,), "repaired", 1.0).share for one in answers(PADDING, "wrong"))
    assert 0 < found.share <= best


def test_code_that_draws_random_numbers_is_changed_by_nobody():
    noisy = Reply(RIGHT[0].answers[0].probe, {}, {"random numbers": [1]}, Difference("it draws random numbers"))
    findings = [*findings_of(INVERTED), Finding(CHECKS[0], (noisy,))]
    program = distance.StudentProgram({"cell": INVERTED}, lambda cells: RIGHT, lambda core: RIGHT, {}, LocalBox)
    assert distance._by_change(PADDING, findings, program) is None


def test_a_change_whose_program_fails_the_checks_is_no_evidence():
    assert by_change(LocalBox(), lambda cells: findings_of(INVERTED)) is None


def test_the_search_is_over_after_some_programs_that_do_not_end():
    box = LocalBox(seconds=range(1, 99))
    assert by_change(box, lambda cells: findings_of(cells["cell"])) is None
    assert len(box.ran) == distance.MAX_ENDLESS


def test_a_cost_that_could_not_be_measured_and_a_dtype_are_explained_by_the_mistake():
    cost = Check("cost", lambda draw, reference: [], property="cost")
    probe = RIGHT[0].answers[0].probe
    reply = lambda actual: Reply(probe, "within the limit", actual, Difference("the result differs"))
    wrong = distance.CombinedMistakes(
        tuple(one for one in answers(PADDING, "wrong") if one.stem == "marks_the_padding")
    )
    core = [answer for one in findings_of(INVERTED) if one.check.core for answer in one.answers]
    assert distance._is_explained(Finding(cost, (reply(OTHER_VALUES),)), wrong, core)
    assert not distance._is_explained(Finding(cost, (reply("too expensive"),)), wrong, core)


def test_a_cost_that_could_not_be_measured_is_not_explained_where_ordinary_values_are_right():
    cost = Check("cost", lambda draw, reference: [], property="cost")
    right = [answer for one in RIGHT if one.check.core for answer in one.answers]
    reply = Reply(right[0].probe, "within the limit", OTHER_VALUES, Difference("the result differs"))
    wrong = distance.CombinedMistakes(
        tuple(one for one in answers(PADDING, "wrong") if one.stem == "marks_the_padding")
    )
    assert not distance._is_explained(Finding(cost, (reply,)), wrong, right)


def test_a_search_that_breaks_takes_nothing_from_what_was_found_before_it(monkeypatch, caplog):
    monkeypatch.setattr(distance, "SHARES", (0.9, 0.8, 0.1))  # so that a change is looked for beside the name

    def broken():
        raise OSError("no box can be started")

    findings = findings_of(BY_ANOTHER_HAND)
    program = distance.StudentProgram(
        {"cell": BY_ANOTHER_HAND}, lambda cells: None, lambda core: findings_of(BY_ANOTHER_HAND, 4), {}, broken
    )
    found = distance.measure(PADDING, findings, ["marks_the_padding"], program)
    assert found.mistakes == ("marks_the_padding",) and "no change was tried" in caplog.text


PAIRS = """
from collections import Counter


def merge(symbols, pair):
    merged, i = [], 0
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == pair:
            merged.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return merged


def learn_bpe(word_counts, num_merges):
    words = {word: list(word) + ["</w>"] for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = Counter()
        for word, symbols in words.items():
            for i in range(len(symbols) - 1):
                counts[symbols[i], symbols[i + 1]] += word_counts[word] - 1
        if len(counts) == 0:
            return merges
        highest = max(counts.values())
        best = sorted(pair for pair, count in counts.items() if count == highest)[0]
        merges.append(best)
        words = {word: merge(symbols, best) for word, symbols in words.items()}
    return merges
"""


def test_a_slip_beside_a_loop_that_a_part_ends_is_one_change_away():
    verdict = run.grade_source(registry.find("tokenizers.bpe_train"), PAIRS, backend=choose())
    assert (verdict.status, verdict.distance, verdict.score) == ("failed", 1, round(0.7 * verdict.max_score, 2))


# in which one statement is dead, and the answer is inverted
WITH_A_SPARE = """
import torch
def padding_mask(ids, pad_id):
    unused = ids + 1
    mask = ids == pad_id
    return mask[:, None, None, :]
"""


def only_selects(box):
    """Whether the change that makes it right only selects code that is there already, told in this box."""
    findings = findings_of(WITH_A_SPARE)
    trials = distance.ChangeTrials(box, {"cell": WITH_A_SPARE}, distance._telling(findings))
    return trials.selects_existing_code({"cell": WITH_A_SPARE.replace("==", "!=")})


class EndingBox(LocalBox):
    """A box that ends with the third program that it runs."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def call(self, name, *args, **kwargs):
        self.alive = self.alive and len(self.ran) < 2
        if not self.alive:
            raise StudentError(self.kind, "the box has ended")
        return super().call(name, *args, **kwargs)


def inverted(box):
    exec(WITH_A_SPARE, box.space)
    return box


def test_programs_without_a_part_that_do_not_end_are_other_programs():
    assert not only_selects(inverted(LocalBox(seconds=range(1, 5))))


@pytest.mark.parametrize(("kind", "hides"), [("timeout", False), ("memory", False), ("crash", True)])
def test_a_box_without_time_or_memory_takes_nothing_and_one_that_the_code_ended_does(kind, hides):
    assert only_selects(inverted(EndingBox(kind))) is hides
