"""Filling in masks: how many at a step, in which order, block by block, and which settings are refused."""

from types import SimpleNamespace

import pytest
import torch

from tests.models.table import drawn
from tests.models.test_laws import make
from tfkit.decode import unmask

MASK = 0


class Sure:
    """A model that predicts token 10 + place at each place, and is surer of the places in this order."""

    def __init__(self, *order):
        self.logits = torch.full((len(order), 30), -2.0)
        for rank, place in enumerate(order):
            self.logits[place, 10 + place] = 9.0 - rank
        self.calls = 0

    def __call__(self, input_ids, attention_mask=None):
        self.calls += 1
        return SimpleNamespace(logits=self.logits[: input_ids.size(1)].expand(len(input_ids), -1, -1))


def traced(model, ids, **settings):
    """-> the texts, and the steps"""
    steps = []
    return unmask(model, ids, mask_id=MASK, on_step=steps.append, **settings), steps


def places(steps, row=0):
    """The places that each step filled in."""
    return [step.filled[row].nonzero().flatten().tolist() for step in steps]


def masks(rows, length):
    return torch.full((rows, length), MASK)


def test_the_surest_come_first():
    model = Sure(3, 0, 2, 1)
    ids, steps = traced(model, masks(2, 4))
    assert ids.tolist() == [[10, 11, 12, 13]] * 2
    assert places(steps) == [[3], [0], [2], [1]] and model.calls == 4
    assert steps[1].ids[0].tolist() == [10, MASK, MASK, 13]
    assert steps[1].confidence[0].tolist()[3] == 0 < steps[1].confidence[0].tolist()[0]


def test_with_fewer_steps_several_are_filled_in_at_once_the_first_steps_one_more():
    _, steps = traced(Sure(3, 0, 2, 1, 4), masks(1, 5), steps=2)
    assert places(steps) == [[0, 2, 3], [1, 4]]
    _, steps = traced(Sure(1, 0), masks(1, 2), steps=9)
    assert places(steps) == [[1], [0]]


def test_blocks_are_filled_in_one_after_the_other():
    _, steps = traced(Sure(5, 4, 3, 2, 1, 0), masks(1, 6), block=4)
    assert places(steps) == [[3], [2], [1], [0], [5], [4]]


def test_masks_may_stand_anywhere_and_rows_may_have_different_numbers():
    ids = torch.tensor([[MASK, 5, MASK, MASK], [7, MASK, 8, 9], [7, 7, 7, 7]])
    found, steps = traced(Sure(3, 1, 2, 0), ids)
    assert found.tolist() == [[10, 5, 12, 13], [7, 11, 8, 9], [7, 7, 7, 7]]
    assert places(steps) == [[3], [2], [0]] and places(steps, 1) == [[1], [], []]


def test_a_text_without_masks_asks_nothing():
    model = Sure(0, 1)
    ids, steps = traced(model, torch.tensor([[4, 5]]))
    assert ids.tolist() == [[4, 5]] and steps == [] and model.calls == 0


@torch.no_grad()
def test_a_prompt_is_continued_and_padding_changes_nothing():
    model = make("llada")[1]
    prompt = drawn(1, 4)
    alone = unmask(model, prompt, max_new_tokens=5)
    assert alone.shape == (1, 9) and torch.equal(alone[:, :4], prompt) and not (alone == 2).any()
    padded = torch.cat([torch.full((1, 3), 2), prompt], 1)  # with masks, which are not filled in as they are padding
    mask = torch.tensor([[0, 0, 0, 1, 1, 1, 1]])
    together = unmask(model, padded.repeat(2, 1), attention_mask=mask.repeat(2, 1), max_new_tokens=5)
    assert together[:, 3:].tolist() == alone.tolist() * 2


@torch.no_grad()
def test_new_tokens_follow_the_last_word_where_padding_is_on_the_right():
    model = make("llada")[1]
    prompt = drawn(1, 4)
    alone = unmask(model, prompt, max_new_tokens=5)
    padded, mask = torch.cat([prompt, torch.zeros(1, 3, dtype=torch.int64)], 1), torch.tensor([[1, 1, 1, 1, 0, 0, 0]])
    ids, other = torch.cat([padded, drawn(1, 7)]), torch.cat([mask, torch.ones_like(mask)])
    found = unmask(model, ids, attention_mask=other, max_new_tokens=5)
    assert found[0].tolist() == [0, 0, 0, *alone[0].tolist()]
    assert torch.equal(found[1], unmask(model, ids[1:], max_new_tokens=5)[0])
    assert torch.equal(unmask(model, ids, attention_mask=other), ids)  # where nothing is written nothing is moved


def test_the_mask_is_never_predicted():
    model = Sure(0, 1)
    model.logits[:, MASK] = 50.0
    assert unmask(model, masks(1, 2), mask_id=MASK).tolist() == [[10, 11]]


def test_tokens_are_drawn_at_the_temperature():
    model = Sure(0)
    model.logits = torch.tensor([[-50.0, 0.0, 2.0]])
    seeded = lambda: torch.Generator().manual_seed(0)
    for temperature, share in ((1.0, 0.8808), (2.0, 0.7311)):
        found = unmask(model, masks(4000, 1), mask_id=MASK, temperature=temperature, generator=seeded())
        assert (found == 2).float().mean() == pytest.approx(share, abs=0.03)
    again = [unmask(model, masks(9, 1), mask_id=MASK, temperature=1.0, generator=seeded()) for _ in range(2)]
    assert torch.equal(*again)


def test_a_random_order_ignores_how_sure_the_model_is():
    draw = torch.Generator().manual_seed(0)
    first = [places(traced(Sure(2, 1, 0), masks(1, 3), order="random", generator=draw)[1])[0]
             for _ in range(30)]  # fmt: skip
    assert {tuple(place) for place in first} == {(0,), (1,), (2,)}


@pytest.mark.parametrize(("settings", "message"), [
    ({"block": 0}, "block=0: must be at least 1"), ({"steps": 0}, "steps=0: must be at least 1"),
    ({"temperature": -1.0}, "temperature=-1.0: must be at least 0"),
    ({"order": "left"}, "order='left': must be one of confidence, random"),
    ({"max_new_tokens": -1}, "max_new_tokens=-1: must be at least 0"),
    ({"mask_id": None}, "Sure names no mask_token_id: give mask_id"),
])  # fmt: skip
def test_settings_that_cannot_be_are_named(settings, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        unmask(Sure(0), masks(1, 1), **{"mask_id": MASK, **settings})
