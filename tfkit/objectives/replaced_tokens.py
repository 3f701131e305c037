"""Replaced token detection (Clark et al. 2020, arXiv:2003.10555): a small generator fills blanks, and a discriminator
detects the replaced words. Every position gives a signal, not only the masked 15%."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def replaced_token_detection_loss(logits: Tensor, original: Tensor, corrupted: Tensor, mask: Tensor) -> Tensor:
    """A token counts as replaced only if it differs: a right guess of the generator replaces nothing.

    logits [B,S] (positive: replaced), original, corrupted int64 [B,S], mask bool [B,S] -> scalar: the mean over mask
    """
    replaced = (original != corrupted).to(logits.dtype)
    losses = F.binary_cross_entropy_with_logits(logits, replaced, reduction="none")
    return losses.masked_fill(~mask, 0.0).sum() / mask.sum().clamp(min=1)


def replace_tokens(masked: Tensor, labels: Tensor, generator_logits: Tensor, sample_u: Tensor) -> Tensor:
    """Fills the blanks with samples of the generator, through which no gradient flows.

    masked [B,S] and labels [B,S] as `mask_tokens` made them, generator_logits [B,S,V], sample_u uniform in (0, 1)
    [B,S,V] -> [B,S]
    """
    gumbel = -torch.log(-torch.log(sample_u))  # the largest of logits + gumbel is a sample of their softmax
    sampled = (generator_logits.detach() + gumbel).argmax(-1)
    return torch.where(labels == -100, masked, sampled)
