"""Shapes that do not fit are named with their tensors, in one line, before or instead of torch's words."""

import pytest
import torch

from tfkit.nn import attend, split_heads

Q, K, V = torch.zeros(2, 4, 3, 6), torch.zeros(2, 2, 5, 6), torch.zeros(2, 2, 5, 8)
SEEN = torch.ones(2, 1, 3, 5, dtype=torch.bool)

WRONG = {  # what is wrong -> the arguments, and how the message goes on
    "heads not split": ((Q[0], K, V), {}, "q is [4, 3, 6], must be [B,H,L,D]: split the heads first"),
    "values without keys": ((Q, K[:, :, :4], V), {}, "k is [2, 2, 4, 6] and v is [2, 2, 5, 8]: each key needs a value"),
    "keys without values": ((Q, K, V[:, :, :4]), {}, "k is [2, 2, 5, 6] and v is [2, 2, 4, 8]: each key needs a value"),
    "widths": ((Q[..., :5], K, V), {}, "q is [2, 4, 3, 5] and k is [2, 2, 5, 6]: their last axis"),
    "heads": ((Q[:, :3], K, V), {}, "q is [2, 3, 3, 6] and k is [2, 2, 5, 6]: the number of heads of k"),
    "batches": (
        (Q, K.repeat(2, 1, 1, 1), V),
        {},
        "q is [2, 4, 3, 6], k is [4, 2, 5, 6] and v is [2, 2, 5, 8]: the batch",
    ),
    "mask": (
        (Q, K, V),
        {"mask": SEEN[..., :4]},
        "mask is [2, 1, 3, 4], must be broadcastable to the scores [B,H,Q,K], [",
    ),
    "mask of too many axes": ((Q, K, V), {"mask": SEEN[None]}, "mask is [1, 2, 1, 3, 5], must be broadcastable"),
    "bias": ((Q, K, V), {"bias": torch.zeros(2, 3, 3, 5)}, "bias is [2, 3, 3, 5], must be broadcastable to the scores"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_attend_cannot_take_is_named(wrong):
    given, how, message = WRONG[wrong]
    with pytest.raises(ValueError) as caught:
        attend(*given, **how)
    assert str(caught.value).startswith(f"attend: {message}") and "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (3, 5), (4, 1, 5), (2, 4, 3, 5), (2, 1, 1, 5)])
def test_what_broadcasts_is_taken(shape):
    assert attend(Q, K, V, mask=torch.ones(shape, dtype=torch.bool)).shape == (2, 4, 3, 8)


def test_other_errors_of_torch_stay_its_own():
    with pytest.raises(RuntimeError, match="same dtype"):
        attend(Q, K.double(), V.double())


@pytest.mark.parametrize(("shape", "heads"), [((3, 6), 2), ((2, 3, 6), 4), ((2, 3, 6), 0)])
def test_what_split_heads_cannot_take_is_named(shape, heads):
    with pytest.raises(ValueError) as caught:
        split_heads(torch.zeros(shape), heads)
    message = f"split_heads: x is {list(shape)}, must be [B,L,E] with an E that {heads} heads divide"
    assert str(caught.value) == message
