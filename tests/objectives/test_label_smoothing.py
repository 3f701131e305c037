import pytest
import torch
import torch.nn.functional as F

from tfkit.objectives.causal_lm import causal_lm_loss
from tfkit.objectives.cross_entropy import cross_entropy, next_labels
from tfkit.objectives.label_smoothing import label_smoothed_loss


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
def test_textbook_and_fused_agree(smoothing):
    torch.manual_seed(0)
    logits, targets = torch.randn(3, 5, 7, dtype=torch.float64), torch.randint(0, 7, (3, 5))
    by_hand = label_smoothed_loss(logits, targets, smoothing, pad_id=0)
    wanted = torch.full_like(logits, smoothing / 6).scatter(-1, targets[..., None], 1 - smoothing)
    expected = -(wanted * logits.log_softmax(-1)).sum(-1)[targets != 0].mean()
    torch.testing.assert_close(by_hand, expected)
    fused = cross_entropy(logits, targets.masked_fill(targets == 0, -100), smoothing)
    torch.testing.assert_close(fused.double(), expected, atol=1e-6, rtol=1e-6)


def test_padding_alone_costs_nothing():
    logits = torch.randn(2, 3, 7, requires_grad=True)
    loss = label_smoothed_loss(logits, torch.zeros(2, 3, dtype=torch.int64), 0.1, pad_id=0)
    loss.backward()
    assert loss == 0 and not logits.grad.any()


def test_causal_lm():
    torch.manual_seed(0)
    logits, ids = torch.randn(2, 4, 7), torch.tensor([[3, 4, 5, 6], [2, 1, 0, 0]])
    expected = F.cross_entropy(torch.cat([logits[0, :3], logits[1, :1]]), torch.tensor([4, 5, 6, 1]))
    torch.testing.assert_close(causal_lm_loss(logits, ids, 0), expected)
    assert causal_lm_loss(logits, ids * 0, 0) == 0
    assert causal_lm_loss(logits[:, :1], ids[:, :1], 0) == 0
    assert causal_lm_loss(logits.bfloat16(), ids, 0).dtype == torch.bfloat16
    labels = ids.masked_fill(ids == 0, -100)  # the models' own, which does not know what padding is
    torch.testing.assert_close(causal_lm_loss(logits, ids, 0), cross_entropy(logits[:, :-1], labels[:, 1:]))


def test_labels_move_instead_of_logits():
    """The same loss and gradient as from the logits without their last, whatever is not scored."""
    logits = torch.randn(2, 3, 5, 7, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(0, 7, (2, 3, 5)).masked_fill(torch.rand(2, 3, 5) < 0.3, -100)
    moved = cross_entropy(logits, next_labels(labels))
    cut = cross_entropy(logits[..., :-1, :], labels[..., 1:])
    torch.testing.assert_close(moved, cut, rtol=1e-12, atol=1e-12)
    (one,), (other,) = torch.autograd.grad(moved, logits), torch.autograd.grad(cut, logits)
    torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
