"""CTRL's control codes (Keskar et al. 2019, arXiv:1909.05858, 3): the first token names the source of a text, so that
the choice of a source controls the style of generated text."""

from __future__ import annotations

import torch
from torch import Tensor

from ._base import Batch
from .causal_lm import CausalLM


def with_control_code(batch: Batch, codes: Tensor) -> Batch:
    """Puts each row's code in front, and labels every token after it.

    batch: input_ids [B,L], attention_mask [B,L]; codes int64 [B] -> input_ids, attention_mask, labels [B,L+1]; the
    code itself is never predicted
    """
    ids = torch.cat([codes[:, None], batch["input_ids"]], 1)
    mask = torch.nn.functional.pad(batch["attention_mask"], (1, 0), value=1)
    return CausalLM()({"input_ids": ids, "attention_mask": mask})
