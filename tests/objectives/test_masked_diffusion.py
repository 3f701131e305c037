"""Masked diffusion: how much is masked, what it weighs, and that the weighted loss bounds the likelihood."""

import pytest
import torch

from tfkit.objectives.masked_diffusion import MaskedDiffusion, diffuse, diffusion_loss

MASK = 2


def test_each_row_has_a_share_of_its_own():
    ids = torch.randint(3, 30, (2000, 50), generator=torch.Generator().manual_seed(0))
    out = MaskedDiffusion(MASK)({"input_ids": ids}, torch.Generator().manual_seed(1))
    shares = (out["input_ids"] == MASK).float().mean(1)
    assert shares.mean() == pytest.approx(0.5, abs=0.03)
    for bound in (0.1, 0.5, 0.9):  # uniform
        assert (shares < bound).float().mean() == pytest.approx(bound, abs=0.04)
    masked = out["input_ids"] == MASK
    assert torch.equal(out["labels"], ids.masked_fill(~masked, -100))
    assert torch.equal(out["input_ids"][~masked], ids[~masked])


def test_the_weights_are_the_inverse_share_and_sum_to_one_on_average():
    ids, free = torch.full((2, 4), 7), torch.tensor([[False, False, False, True], [False, False, False, False]])
    time, u = torch.tensor([0.5, 0.25]), torch.tensor([[0.4, 0.6, 0.1, 0.0], [0.3, 0.2, 0.9, 0.24]])
    inputs, labels, weights = diffuse(ids, free, MASK, time, u)
    assert inputs.tolist() == [[2, 7, 2, 7], [7, 2, 7, 2]]
    assert labels.tolist() == [[7, -100, 7, -100], [-100, 7, -100, 7]]
    expected = torch.tensor([[2.0, 0, 2, 0], [0, 4, 0, 4]]) / 7  # seven tokens may be masked
    torch.testing.assert_close(weights, expected)
    many = torch.randint(3, 30, (4000, 40), generator=torch.Generator().manual_seed(0))
    draws = torch.Generator().manual_seed(2)
    assert MaskedDiffusion(MASK, 0.05)({"input_ids": many}, draws)["loss_weights"].sum() == pytest.approx(1.0, abs=0.03)


def test_special_tokens_and_padding_are_never_masked():
    ids = torch.full((300, 6), 7)
    batch = {"input_ids": ids, "attention_mask": torch.tensor([1, 1, 1, 1, 0, 0]).expand(300, -1),
             "special_tokens_mask": torch.tensor([1, 0, 0, 0, 0, 0]).expand(300, -1)}  # fmt: skip
    out = MaskedDiffusion(MASK)(batch, torch.Generator().manual_seed(0))
    masked = (out["input_ids"] == MASK).any(0)
    assert masked.tolist() == [False, True, True, True, False, False]
    assert not out["loss_weights"][out["labels"] == -100].any()


def test_the_loss_bounds_the_negative_log_likelihood_and_is_exact_for_independent_tokens():
    """A model that ignores its input and knows the distribution of each token: the expected loss is the mean negative
    log-likelihood of a token, whatever share is masked."""
    draw = torch.Generator().manual_seed(0)
    probabilities = torch.rand(6, 9, generator=draw).softmax(-1)
    ids = torch.multinomial(probabilities, 4000, replacement=True, generator=draw).T  # [4000,6]
    out = MaskedDiffusion(8, 0.05)({"input_ids": ids}, draw)
    logits = probabilities.log().expand(4000, -1, -1)
    expected = -probabilities.log().expand(4000, -1, -1).gather(-1, ids[..., None]).mean()
    loss = diffusion_loss(logits, out["labels"], out["loss_weights"])
    assert loss.item() == pytest.approx(expected.item(), rel=0.03)
    nothing = torch.full_like(ids, -100)
    assert diffusion_loss(logits, nothing, torch.zeros(ids.shape)) == 0
