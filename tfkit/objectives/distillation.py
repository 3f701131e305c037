"""Distillation (Hinton et al. 2015, arXiv:1503.02531; Sanh et al. 2019, arXiv:1910.01108): learn a teacher's
probabilities."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def distillation_loss(
    student_logits: Tensor,
    teacher_logits: Tensor,
    labels: Tensor,
    student_hidden: Tensor,
    teacher_hidden: Tensor,
    mask: Tensor,
    temperature: float = 2.0,
) -> dict[str, Tensor]:
    """DistilBERT's three losses; the caller weights them (the paper uses 5, 2 and 1).

    logits [B,S,V], labels [B,S] (-100: not scored), hidden [B,S,E], mask bool [B,S] -> dict of scalars: soft, the KL
    divergence from teacher to student at the temperature, times its square so that gradients keep their size; hard,
    the cross-entropy; cosine, 1 - cos of the two hidden states. soft and cosine are means over mask, hard is one over
    the labels; a mean over nothing is 0.
    """
    soft_teacher = (teacher_logits / temperature).log_softmax(-1)
    soft_student = (student_logits / temperature).log_softmax(-1)
    divergence = F.kl_div(soft_student, soft_teacher, reduction="none", log_target=True).sum(-1)  # [B,S]
    hard = F.cross_entropy(student_logits.transpose(1, 2), labels, ignore_index=-100, reduction="none")  # [B,S]
    angles = 1 - F.cosine_similarity(student_hidden, teacher_hidden, dim=-1)  # [B,S]

    def mean_over(values: Tensor, counted: Tensor) -> Tensor:
        """values, counted [B,S] -> scalar"""
        return values.masked_fill(~counted, 0.0).sum() / counted.sum().clamp(min=1)

    return {
        "soft": mean_over(divergence, mask) * temperature**2,
        "hard": mean_over(hard, labels != -100),
        "cosine": mean_over(angles, mask),
    }
