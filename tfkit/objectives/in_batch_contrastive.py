"""In-batch contrastive learning (Karpukhin et al. 2020, arXiv:2004.04906, 3.2): the other questions' contexts are the
negatives."""

from __future__ import annotations

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as between
import torch.nn.functional as F
from torch import Tensor


def in_batch_loss(questions: Tensor, contexts: Tensor, positives: Tensor) -> Tensor:
    """Each question must retrieve its own context among all of the batch, by inner products.

    questions [B,E], contexts [C,E], positives int64 [B], a row of contexts for each question -> scalar: the mean
    """
    scores = questions @ contexts.T  # [B,C]
    return F.cross_entropy(scores, positives)


def pair_loss(scores: Tensor) -> Tensor:
    """InfoNCE in both directions (Radford et al. 2021, arXiv:2103.00020, figure 3): each row must find its column among
    all of the batch, and each column its row.

    scores [B,B], of pairs on the diagonal -> scalar: the mean of both means. Raises TypeError for scores that are not
    floats, and ValueError unless there is one column for each row, and at least one pair.
    """
    if not scores.is_floating_point():
        raise TypeError(f"scores are {scores.dtype}: give floats, scores.float()")
    if scores.dim() != 2 or scores.size(0) != scores.size(1):
        raise ValueError(f"scores have shape {list(scores.shape)}: a loss needs one column for each row, its pair")
    if len(scores) == 0:
        raise ValueError("scores have shape [0, 0]: the mean of no pairs is no number; give at least one")
    pairs = torch.arange(len(scores), device=scores.device)
    return (F.cross_entropy(scores, pairs) + F.cross_entropy(scores.T, pairs)) / 2


def in_batch_loss_across_ranks(questions: Tensor, contexts: Tensor, positives: Tensor) -> Tensor:
    """The same over the batches of all processes: more negatives for the cost of exchanging vectors.

    questions [B,E], contexts [C,E], positives [B] of this process (B and C the same everywhere) -> scalar: the mean
    over this process's questions. Gradients flow back to every process's contexts; as DDP averages gradients over
    processes, they equal those of a single process with all questions.
    """
    everyone = torch.cat(between.all_gather(contexts))  # [ranks*C,E]
    return in_batch_loss(questions, everyone, positives + dist.get_rank() * len(contexts))
