"""Losses after pretraining, against what torch and the papers say of them."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch.distributions import Categorical, kl_divergence

from tfkit.objectives.tuning import (
    clipped_policy_loss,
    dpo_loss,
    group_advantages,
    kl_estimate,
    reward_loss,
    sequence_log_probs,
)


def test_log_probabilities_are_cross_entropy_of_shifted_labels():
    torch.manual_seed(0)
    logits, labels = torch.randn(3, 6, 5).double(), torch.randint(0, 5, (3, 6))
    labels[:, 2] = -100
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=-100, reduction="none")
    torch.testing.assert_close(sequence_log_probs(logits, labels), -losses.sum(1))


def test_a_model_that_is_its_reference_has_no_preference():
    chosen, rejected = torch.tensor([-3.0, -900.0]), torch.tensor([-50.0, -1.0])
    assert dpo_loss(chosen, rejected, chosen, rejected, 0.1).item() == pytest.approx(math.log(2))
    assert reward_loss(chosen, chosen).item() == pytest.approx(math.log(2))


def test_groups_have_mean_zero_and_deviation_one_and_equal_rewards_teach_nothing():
    rewards = torch.randn(4, 8, generator=torch.Generator().manual_seed(0)).double()
    found = group_advantages(rewards, eps=0.0)
    torch.testing.assert_close(found.mean(1), torch.zeros(4).double())
    torch.testing.assert_close(found.std(1, correction=0), torch.ones(4).double())
    assert not group_advantages(torch.ones(2, 4)).any()


@pytest.mark.parametrize(
    ("advantage", "ratio", "learns"), [(1, 1.5, False), (1, 0.5, True), (-1, 0.5, False), (-1, 1.5, True)]
)
def test_clipping_stops_only_what_already_went_far_enough(advantage, ratio, learns):
    now = torch.tensor([[ratio]]).log().requires_grad_()
    given = torch.zeros(1, 1), torch.tensor([float(advantage)]), torch.ones(1, 1, dtype=torch.bool)
    clipped_policy_loss(now, *given).backward()
    assert bool(now.grad.any()) is learns


def test_the_estimate_has_the_divergence_as_its_mean():
    ours, theirs = (torch.randn(6, generator=torch.Generator().manual_seed(n)).double() for n in (1, 2))
    p, q = ours.log_softmax(0), theirs.log_softmax(0)
    one = torch.ones(1, 1, dtype=torch.bool)
    mean = sum(p[i].exp() * kl_estimate(p[i].view(1, 1), q[i].view(1, 1), one) for i in range(6))
    torch.testing.assert_close(mean, kl_divergence(Categorical(logits=ours), Categorical(logits=theirs)))
