"""The line that is named is the one that was edited, and right answers are never asked about."""

import pytest

from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers
from autograder.corpus.judge import ask_reference, lines
from autograder.corpus.lines import edited_lines
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.grade import run
from autograder.localize.fault import describe_location, localize_fault
from autograder.localize.find import find
from autograder.localize.words import sentence
from autograder.sandbox import choose

ATTENTION = registry.find("attention.scaled_dot_product")
HEADS = registry.find("attention.multi_head")
UNSCALED = """
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", q, k)
    if mask is not None:
        scores = torch.where(mask, scores, -1e30)
    weights = scores.softmax(-1)
    return weights @ v, weights
"""
ROW_BY_ROW = """
import math
import torch

def one(row, k, v, mask):
    scores = torch.stack([(row * key).sum(-1) for key in k.unbind(-2)], -1) / math.sqrt(row.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    weights = scores.softmax(-1)
    return weights, (weights.unsqueeze(-1) * v).sum(-2)

def scaled_dot_product_attention(q, k, v, mask=None):
    shape = (*torch.broadcast_shapes(q.shape[:-2], k.shape[:-2]), q.shape[-2], k.shape[-2])
    mask = None if mask is None else mask.expand(shape)
    rows = []
    for place in range(q.shape[-2]):
        rows.append(one(q[..., place, :], k, v, None if mask is None else mask[..., place, :]))
    return torch.stack([out for _, out in rows], -2), torch.stack([w for w, _ in rows], -2)
"""


TOO_LARGE = (
    "`scores` is too large by the square root of the number of columns of `q`; divided by that your values are right"
)


@pytest.fixture(scope="module")
def question_sets():
    return {exercise.id: ask_reference(exercise, 3) for exercise in (ATTENTION, HEADS)}


def found(exercise, source, question_sets):
    namespace: dict = {"__name__": "answer"}
    exec(source, namespace)
    subject = LocalSubject(namespace)
    return find(exercise, collect_answers(question_sets[exercise.id], subject), subject, [("cell", source)])


def test_a_missing_scale_is_found_in_another_style(question_sets):
    place = found(ATTENTION, UNSCALED, question_sets)
    assert (place.line, sentence(place)) == (5, TOO_LARGE)


def test_the_line_is_told_in_the_readers_language(question_sets, monkeypatch):
    place = found(ATTENTION, UNSCALED, question_sets)
    monkeypatch.setenv("LANGUAGE", "fr")
    assert sentence(place) == (
        "`scores` est trop grand d'un facteur √n, où n est le nombre de colonnes de `q`\u00a0; divisé par lui, vos"
        " valeurs sont justes"
    )


SEARCHES = [  # of searches over lists: the mistake, and what its line holds
    ("decoding.beam", "length_counts_start", "/ len(candidate[0])"),  # in a function that gives a number back
    ("decoding.beam", "goes_on_after_end", "live = best"),  # seen a round later
    ("decoding.greedy", "start_counts_as_new", "max_new_tokens - 1"),  # no round at all
]


@pytest.mark.parametrize(("exercise_id", "mistake", "words"), SEARCHES)
def test_the_line_is_found_in_searches_over_lists(exercise_id, mistake, words):
    exercise = registry.find(exercise_id)
    source = next(one for one in answers(exercise, "wrong") if one.stem == mistake).read_text(encoding="utf-8")
    place = found(exercise, source, {exercise_id: ask_reference(exercise, 7)})
    near = source.splitlines()[place.line - 3 : place.line + 2]
    assert any(words in line for line in near), (place.line, sentence(place))


CRASH = """
import torch

def head(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.nan_to_num(scores.softmax(-1))
    return weights @ v, weights

def scaled_dot_product_attention(q, k, v, mask=None):
    shape = q.shape
    both = head(q, k, v, mask)
    total = both + torch.zeros(
        1,
    )
    return total, shape
"""


def test_the_line_of_a_crash_is_the_line_of_the_exception(question_sets):
    place = found(ATTENTION, CRASH, question_sets)
    assert "total = both" in CRASH.splitlines()[place.line - 1]
    assert sentence(place).startswith("the code stops with an error here")


def test_an_error_that_the_code_catches_is_no_crash(question_sets):
    caught = UNSCALED.replace(
        "    weights =", "    try:\n        int('x')\n    except ValueError:\n        pass\n    weights ="
    )
    assert caught != UNSCALED
    place = found(ATTENTION, caught, question_sets)
    assert (place.line, sentence(place)) == (5, TOO_LARGE)


def in_two_cells(first, second, question_sets, right=()):
    """The location where the first cell answers another exercise; `right`: what it defines without being at fault."""
    namespace: dict = {"__name__": "answer"}
    exec(first, namespace)
    exec(second, namespace)
    findings = collect_answers(question_sets[ATTENTION.id], LocalSubject(namespace))
    cells = [("other", first), ("own", second)]
    return find(ATTENTION, findings, LocalSubject(namespace), cells, elsewhere={"other"}, right=right)


HELPER = CRASH.partition("def scaled")[0]
CALLER = """
def scaled_dot_product_attention(q, k, v, mask=None):
    shape = q.shape
    both = head(q, k, v, mask)
    return both
"""


INSIDE = "the values go wrong inside this call of `head`: by what is passed to it, or in the code of another cell"


def test_of_another_exercises_cell_the_call_is_named(question_sets):
    wrong = HELPER.replace("/ q.size(-1) ** 0.5", "/ q.size(-1)")
    place = in_two_cells(wrong, CALLER, question_sets)
    assert place.cell == "own" and "both = head" in CALLER.splitlines()[place.line - 1]
    assert sentence(place) == INSIDE
    stops = HELPER.replace("    weights =", "    mask.missing\n    weights =")
    place = in_two_cells(stops, CALLER, question_sets)
    assert place.cell == "own" and "both = head" in CALLER.splitlines()[place.line - 1]
    assert "stops with an error here" in sentence(place)


SCORES = """
def scores_of(q, k):
    return q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
"""
UNMASKED = """
def scaled_dot_product_attention(q, k, v, mask=None):
    s = scores_of(q, k)
    weights = s.softmax(-1)
    return weights @ v, weights
"""
MASKED = UNMASKED.replace(
    "    weights = s", "    s = s if mask is None else s.masked_fill(~mask, -1e9)\n    weights = s"
)


def test_the_right_code_of_another_cell_is_not_blamed(question_sets):
    place = in_two_cells(SCORES, UNMASKED, question_sets)
    assert place.cell == "own" and "s = scores_of" in UNMASKED.splitlines()[place.line - 1]
    assert sentence(place).startswith("`s` is right so far, but no right answer continues like this")


EXCHANGED = CALLER.replace("head(q, k, v, mask)", "head(v, k, q, mask)")


def test_exchanged_arguments_are_not_told_as_the_fault_of_the_code_that_gets_them(question_sets):
    assert EXCHANGED != CALLER
    unknown = in_two_cells(HELPER, EXCHANGED, question_sets)
    known = in_two_cells(HELPER, EXCHANGED, question_sets, right={"head"})
    for place, words in [
        (unknown, INSIDE),
        (known, "what this call of `head` passes is wrong: with right code in"),
    ]:
        assert place.cell == "own" and "both = head" in EXCHANGED.splitlines()[place.line - 1]
        assert sentence(place).startswith(words)


def test_only_what_is_known_to_be_right_is_called_so(question_sets):
    """Another function of that cell may be wrong."""
    place = in_two_cells("def known():\n    pass\n" + HELPER, EXCHANGED, question_sets, right={"known"})
    assert sentence(place) == INSIDE


def test_a_side_effect_in_another_cell_is_called_a_change(question_sets):
    changes = "def scores_of(q, k):\n    q /= q.size(-1) ** 0.5\n    return q @ k.transpose(-2, -1)\n"
    place = in_two_cells(changes, MASKED, question_sets)
    assert place.cell == "own" and "s = scores_of" in MASKED.splitlines()[place.line - 1]
    words = "this call of `scores_of` changes what the caller still needs, in the code of another cell"
    assert sentence(place) == words


def test_a_helper_of_another_cell_that_is_not_called_by_name_is_not_told(question_sets):
    wrong = SCORES.replace("/ q.size(-1) ** 0.5", "/ q.size(-1)")
    mapped = MASKED.replace("s = scores_of(q, k)", "(s,) = map(scores_of, [q], [k])")
    assert mapped != MASKED and in_two_cells(wrong, mapped, question_sets) is None


def test_a_mask_upside_down_is_found_in_loops(question_sets):
    assert found(ATTENTION, ROW_BY_ROW, question_sets).line in (7, 8)


def test_a_forgotten_scale_is_found_where_the_scores_are_made_and_not_in_the_helper(question_sets):
    wrong = next(path for path in answers(HEADS, "wrong") if path.stem == "no_scale")
    source = wrong.read_text(encoding="utf-8")
    assert "scores = q @ k" in source.splitlines()[found(HEADS, source, question_sets).line - 1]


def test_right_answers_are_never_asked(monkeypatch):
    monkeypatch.setattr(run, "localize_fault", lambda *_: pytest.fail("a right answer was traced"))
    for path in answers(ATTENTION, "right"):
        verdict = run.grade_source(ATTENTION, path.read_text(encoding="utf-8"), backend=choose(), device="cpu")
        assert verdict.status == "passed" and verdict.line is None


def test_a_verdict_has_the_line_and_help_gives_it_out_by_steps():
    from autograder.api import with_hints

    verdict = run.grade_source(ATTENTION, UNSCALED, backend=choose(), device="cpu").as_json()
    assert verdict["line"] == verdict["departure"]["line"] == 5
    assert verdict["departure"]["text"] == 'scores = torch.einsum("...qd,...kd->...qk", q, k)'
    assert {"cell", "line", "text", "yours", "right", "known", "again", "value"} == set(
        verdict["departure"]["steps"][0]
    )
    assert with_hints(verdict, 2)["line"] == 5 and with_hints(verdict, 2)["departure"]["steps"] == []
    assert with_hints(verdict, 2)["departure"]["value"] is None
    assert with_hints(verdict, 1)["line"] is None and with_hints(verdict, 1)["departure"] is None


def test_parameters_that_do_not_fit_are_found_where_they_are_made(question_sets):
    wrong = next(path for path in answers(HEADS, "wrong") if path.stem == "projections_without_bias")
    source = wrong.read_text(encoding="utf-8")
    assert "bias=False" in source.splitlines()[found(HEADS, source, question_sets).line - 1]


def test_a_line_that_the_source_does_not_have_is_not_told(question_sets):
    place = found(ATTENTION, UNSCALED, question_sets)
    assert describe_location(place, {"cell": "x = 1"}) is None and describe_location(place, {}) is None


def test_a_failure_of_ours_costs_the_help_alone(question_sets, monkeypatch):
    def fails(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("autograder.localize.fault.find", fails)
    assert localize_fault(ATTENTION, [], None, []) is None


def test_no_line_is_found_where_only_the_rewritten_code_is_nested_too_deeply(question_sets):
    """Each bracket gets a call around it, and Python parses at most 200 within each other."""
    deep = f"\ndef other(x):\n    return {'[' * 105}x{']' * 105}\n"
    assert found(ATTENTION, UNSCALED + deep, question_sets) is None


def test_edited_lines():
    right = "def f(x):\n    y = x + 1\n    z = y * 2\n    return z\n"
    assert edited_lines(right.replace("+", "-"), right) == {2}
    assert edited_lines('"""Doc."""\n' + right.replace("    z = y * 2\n", ""), right) == {3, 4}
    assert edited_lines(right, right) == set()


SAMPLE = [
    "masks.decoder",
    "attention.attend",
    "positions.axial",
    "transformer.feed_forward",
    "masks.softmax",
]


@pytest.mark.parametrize("name", SAMPLE)
def test_the_line_is_near_the_edit(name):
    exercise = registry.find(name)
    score = lines(exercise, ask_reference(exercise, 3))
    assert score.near >= 0.9 * score.edits > 0, score.notes


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_line_is_near_the_edit_in_nine_of_ten(every):
    scores = [lines(exercise, ask_reference(exercise, 3)) for exercise in registry.exercises()[:: every(9)]]
    assert sum(score.near for score in scores) >= 0.9 * sum(score.edits for score in scores) > 300 / every(9)
