"""How a text is filled in, as the stepper draws it: tokens in their places, in the order in which they came."""

import json
import math

import pytest
import torch

from tests.decode.test_unmasking import MASK, Sure, masks
from tfkit.decode import record_unmasking
from tfkit_lab.trace import tokens_so_far, validate


def name(i):
    return "▢" if i == MASK else f"w{i}"


def recorded(model, ids, **settings):
    return record_unmasking(model, ids, token=name, mask_id=MASK, **settings)


def test_tokens_stand_where_they_were_filled_in():
    trace = recorded(Sure(3, 0, 2, 1), torch.tensor([5, MASK, MASK, MASK]))
    validate(json.loads(json.dumps(trace)))
    assert [tokens_so_far(trace, node) for node in trace["path"]] == [
        ["w5", "▢", "▢", "▢"], ["w5", "▢", "▢", "w13"], ["w5", "▢", "w12", "w13"], ["w5", "w11", "w12", "w13"],
    ]  # fmt: skip
    assert [node.get("place") for node in trace["nodes"]] == [None, 3, 2, 1]


def test_those_of_one_step_come_one_after_the_other_the_surest_first():
    trace = recorded(Sure(3, 0, 2, 1), masks(1, 4), steps=2)
    assert [node["place"] for node in trace["nodes"][1:]] == [3, 0, 2, 1]
    assert trace["settings"] == {"steps": 2} and len(trace["steps"]) == 4


def test_each_step_has_the_models_probabilities_at_its_place():
    model = Sure(1, 0)
    trace = recorded(model, masks(1, 2), top_logprobs=3)
    probabilities = model.logits.index_fill(-1, torch.tensor([MASK]), -torch.inf).softmax(-1)
    for step, place in zip(trace["steps"], (1, 0), strict=True):
        (node,), (top,) = step["live"], step["topk"].values()
        assert top[0][:2] == [f"w{10 + place}", 10 + place] and len(top) == 3
        assert top[0][2] == pytest.approx(probabilities[place].max().item())
        assert step["entropy"][str(node)] == pytest.approx(torch.special.entr(probabilities[place]).sum().item())
    logps = [node["logp"] for node in trace["nodes"][1:]]
    assert logps == pytest.approx([math.log(probabilities[place].max()) for place in (1, 0)])
    assert trace["nodes"][-1]["score"] == pytest.approx(sum(logps))


def test_new_tokens_are_masks_after_the_text():
    trace = recorded(Sure(0, 2, 1), torch.tensor([7]), max_new_tokens=2)
    assert trace["prompt"] == ["w7", "▢", "▢"] and tokens_so_far(trace, trace["best"]) == ["w7", "w11", "w12"]


def test_padding_on_the_right_is_moved_before_new_tokens():
    mask = torch.tensor([[1, 0]])
    trace = recorded(Sure(0, 1, 2, 3), torch.tensor([7, 5]), attention_mask=mask, max_new_tokens=2)
    assert trace["prompt"] == ["w5", "w7", "▢", "▢"]
    assert tokens_so_far(trace, trace["best"]) == ["w5", "w7", "w12", "w13"]


def test_one_text_at_a_time():
    with pytest.raises(ValueError, match="record_unmasking shows one text, input_ids holds 2: give one row"):
        recorded(Sure(0), masks(2, 1))
    with pytest.raises(ValueError, match="record_unmasking got no tokens"):
        recorded(Sure(0), masks(1, 0))
