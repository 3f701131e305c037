"""What a walk to a mistake has: the student's own values in the order of the lines, up to the one that departs."""

from __future__ import annotations

from autograder.api import with_hints
from autograder.checks.local import LocalSubject
from autograder.checks.probe import collect_answers
from autograder.corpus.judge import ask_reference
from autograder.exercises import registry
from autograder.localize.fault import localize_fault
from autograder.localize.steps import WALKED

DECODER = registry.find("masks.decoder")
FUTURE = """
import torch
def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    real = ids != pad_id
    seen = real[:, None, None, :]
    mask = seen.expand(-1, -1, length, -1)
    return mask & torch.ones(length, length).triu().bool()
"""


HELPER = """
import torch
def causal_mask(length):
    rows = torch.arange(length)[:, None]

    columns = torch.arange(length)[None, :]
    future = columns > rows
    return ~future
"""
CALLS = """
def decoder_mask(ids, pad_id):
    length = ids.shape[1]
    real = ids != pad_id
    seen = real[:, None, None, :]
    mask = seen.expand(-1, -1, length, -1)
    both = mask | causal_mask(length)
    return both
"""


ATTENTION = registry.find("attention.scaled_dot_product")
SOFTMAX = """
import math
import torch
def normalised(scores):
    shares = torch.softmax(scores, -1)
    return shares.clone()
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.div(q @ k.mT, math.sqrt(q.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = normalised(scores)
    weights = torch.mul(weights, 2)
    return torch.matmul(weights, v), weights
"""


def departure(source, helper="", exercise=DECODER):
    core = [(check, pairs) for check, pairs in ask_reference(exercise, 3) if check.core]
    namespace: dict = {"__name__": "answer"}
    exec(helper, namespace)
    exec(source, namespace)
    subject = LocalSubject(namespace)
    cells = [("other", helper), ("own", source)] if helper else [("own", source)]
    return localize_fault(exercise, collect_answers(core, subject), subject, cells, elsewhere={"other"}, own={"own"})


def walked(found):
    return [(step["line"], step["value"]["name"]) for step in found["steps"] if step["value"]]


def test_the_walk_has_the_values_of_the_lines_up_to_the_one_that_departs():
    found = departure(FUTURE)
    assert found["line"] == 8
    assert walked(found) == [(5, "real"), (6, "seen"), (7, "mask"), (8, "the value returned here")]  # line 4: a number
    real = next(step["value"] for step in found["steps"] if step["line"] == 5)
    assert real["value"] == [[bool(entry) for entry in row] for row in real["value"]]
    assert [len(real["value"]), len(real["value"][0])] == real["shape"]


def test_the_walk_ends_at_the_mistake_although_the_code_goes_on():
    found = departure(FUTURE.replace("seen = real", "seen = ~real").replace(".triu()", ".tril()"))
    assert found["line"] == 6 and walked(found) == [(5, "real"), (6, "seen")]


def test_a_long_walk_keeps_its_end():
    many = "    real = real & (ids != pad_id)\n" * (WALKED + 4)
    found = departure(FUTURE.replace("    seen = real", f"{many}    seen = real"))
    assert len(walked(found)) == WALKED and walked(found)[-1][0] == found["line"]


def test_there_is_no_walk_where_the_line_is_not_sure():
    found = departure(FUTURE.replace("ids != pad_id", "ids == pad_id"))
    assert found["line"] is None and found["steps"] and walked(found) == []


def test_the_values_are_help_of_the_third_step():
    told = {"status": "failed", "checks": [], "departure": departure(FUTURE)}
    assert walked(with_hints(told, 3)["departure"]) and with_hints(told, 2)["departure"]["steps"] == []


def test_a_walk_through_a_cell_that_calls_another_has_its_own_lines_alone():
    found = departure(CALLS, HELPER)
    assert (found["cell"], found["line"]) == ("own", 7)
    assert walked(found) == [(4, "real"), (5, "seen"), (6, "mask"), (7, "both")]
    places = [(step["cell"], step["line"]) for step in found["steps"] if step["line"]]
    assert {("own", 4), ("own", 6), ("other", 4), ("other", 6)} <= set(places)
    assert places.index(("own", 7)) > places.index(("other", 8))  # the call comes back before its line is at its end


def test_a_line_that_ran_again_is_shown_as_it_ran_first_and_says_so():
    loop = "    for last in (False, True):\n        kept = real & (ids != pad_id - last)\n        kept = kept & real\n"
    found = departure(FUTURE.replace("    seen = real", f"{loop}    seen = real"))
    assert [step["line"] for step in found["steps"] if step["again"]] == [7, 8]
    assert [line for line, _ in walked(found)] == [5, 7, 8, 9, 10, 11]
    one_line = departure(
        FUTURE.replace("    seen = real", "    for _ in '12':\n        real = real & True\n    seen = real")
    )
    assert [step["line"] for step in one_line["steps"] if step["again"]] == [7]


def test_a_call_or_a_comprehension_does_not_make_its_line_run_again():
    found = departure(CALLS.replace("causal_mask(length)", "(~mask & mask) | causal_mask(length)"), HELPER)
    assert not any(step["again"] for step in found["steps"])
    rows = "    real = torch.stack([row != pad_id for row in ids])\n"
    found = departure(FUTURE.replace("    real = ids != pad_id\n", rows))
    assert walked(found)[0] == (5, "real") and not any(step["again"] for step in found["steps"])


def test_a_value_before_the_line_is_called_right_although_the_one_that_departs_is_the_same():
    found = departure(SOFTMAX.replace("torch.mul(weights, 2)", "torch.softmax(weights, -1)"), exercise=ATTENTION)
    assert found["line"] == 6 and "no right answer continues like this" in found["sentence"]
    known = {step["line"]: step["known"] for step in found["steps"] if step["line"]}
    assert known[5] is True and known[6] is False


def test_the_shape_beside_the_line_that_departs_is_that_of_the_value_that_belongs_there():
    found = departure(SOFTMAX, exercise=ATTENTION)
    assert found["line"] == 12 and "is 2 times what it should be" in found["sentence"]
    own = next(step for step in found["steps"] if step["line"] == 12)
    assert own["yours"] == own["right"] == found["value"]["shape"]
