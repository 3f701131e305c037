"""After pretraining: supervised chat labels, learning from preferences (reward model, DPO), and from rewards (GRPO).

Reward model: Ouyang et al. 2022, arXiv:2203.02155, eq. 1. DPO: Rafailov et al. 2023, arXiv:2305.18290. Clipped loss:
Schulman et al. 2017, arXiv:1707.06347, eq. 7. Group advantages and the estimate of the divergence: Shao et al. 2024,
arXiv:2402.03300, 4.1.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor


def chat_labels(turns: Sequence[tuple[str, list[int]]], end_id: int) -> tuple[list[int], list[int]]:
    """A conversation as one row of ids, with labels for the assistant's turns and their end.

    turns: pairs (role, ids); each turn is followed by end_id -> (ids, labels), lists of the same length; labels are the
    ids in the turns of "assistant", their end_id included, and -100 elsewhere. They are not shifted.
    """
    ids: list[int] = []
    labels: list[int] = []
    for role, words in turns:
        turn = [*words, end_id]
        ids += turn
        labels += turn if role == "assistant" else [-100] * len(turn)
    return ids, labels


def sequence_log_probs(logits: Tensor, labels: Tensor) -> Tensor:
    """The log-probability of each row's labelled tokens, given all tokens before them.

    logits [B,L,V], labels int64 [B,L], -100 elsewhere -> [B]: the sum over t >= 1 with labels[:, t] != -100
    of the log-probability of labels[:, t] under logits[:, t - 1]
    """
    targets = labels[:, 1:]
    log_probs = logits[:, :-1].log_softmax(-1)
    chosen = log_probs.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)  # [B,L-1]
    return chosen.masked_fill(targets == -100, 0.0).sum(-1)


def reward_loss(chosen: Tensor, rejected: Tensor) -> Tensor:
    """Bradley and Terry's model of a choice between two answers: p(chosen is preferred) = sigmoid(chosen - rejected).

    chosen and rejected [B], the rewards of the two answers -> scalar: the mean of -log p
    """
    return -F.logsigmoid(chosen - rejected).mean()


def dpo_loss(chosen: Tensor, rejected: Tensor, ref_chosen: Tensor, ref_rejected: Tensor, beta: float) -> Tensor:
    """Direct preference optimisation: the reward is how much likelier an answer became than under the reference model.

    log-probabilities [B] of whole answers: the model's, and the reference's, into which no gradient flows -> scalar,
    Rafailov et al. 2023, eq. 7
    """
    reference = (ref_chosen - ref_rejected).detach()
    margin = (chosen - rejected) - reference
    return -F.logsigmoid(beta * margin).mean()


def group_advantages(rewards: Tensor, eps: float = 1e-6) -> Tensor:
    """How much better each answer is than the other answers to the same question, in standard deviations.

    rewards [G,N], a row of N answers for each question -> [G,N]: minus the row's mean, divided by its standard
    deviation (over N, not N - 1) plus eps
    """
    centred = rewards - rewards.mean(-1, keepdim=True)
    spread = centred.square().mean(-1, keepdim=True).sqrt()
    return centred / (spread + eps)


def clipped_policy_loss(
    log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, mask: Tensor, clip: float = 0.2
) -> Tensor:
    """PPO's loss: make good answers likelier and bad ones less likely, but none by more than a factor of 1 ± clip.

    log_probs and old_log_probs [B,L] of the sampled tokens, now and when they were sampled; advantages [B]; mask bool
    [B,L], the tokens that count -> scalar: mean over mask of -min(r A, clamp(r, 1-clip, 1+clip) A) with
    r = exp(log_probs - old_log_probs). The gradient flows only into log_probs; a mean over nothing is 0.
    """
    change = (log_probs - old_log_probs.detach()).masked_fill(~mask, 0.0)  # before exp: masked values may be huge
    ratio = change.exp()
    advantage = advantages.detach().unsqueeze(-1)
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    return -gain.masked_fill(~mask, 0.0).sum() / mask.sum().clamp(min=1)


def kl_estimate(log_probs: Tensor, ref_log_probs: Tensor, mask: Tensor) -> Tensor:
    """An estimate of the KL divergence from the reference, on the model's own samples: never negative, zero if both
    agree.

    log_probs and ref_log_probs [B,L] of the sampled tokens, mask bool [B,L] -> scalar: mean over mask of
    exp(d) - d - 1 with d = ref_log_probs - log_probs. The gradient flows only into log_probs; a mean over nothing is 0.
    """
    d = (ref_log_probs.detach() - log_probs).masked_fill(~mask, 0.0)
    return (d.exp() - d - 1).sum() / mask.sum().clamp(min=1)
