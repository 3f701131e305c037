"""Classifier-free guidance (Ho and Salimans 2022, arXiv:2207.12598; of texts: Sanchez et al. 2023, arXiv:2306.17806):
the model reads each text a second time after another prompt, and what the two disagree about counts for more."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tfkit.decode.decoders import Decoder


@dataclass(frozen=True, eq=False)
class Guidance:
    """Log-probabilities become scale · (with the prompt - without it) + without it, as transformers computes them.

    ids [B,n]: the negative prompts, which take the place of the prompts, and their mask bool [B,n]; None: the last
    token of each prompt."""

    scale: float
    ids: Tensor | None = None
    mask: Tensor | None = None

    def for_row(self, row: int) -> Guidance:
        """The same guidance for a single one of the sentences."""
        one = slice(row, row + 1)
        ids, mask = (part if part is None else part[one] for part in (self.ids, self.mask))
        return replace(self, ids=ids, mask=mask)

    def length(self) -> int:
        """The number of positions of the negative prompts."""
        return 1 if self.ids is None else self.ids.size(1)


class GuidedDecoder:
    """Two decoders of one model, after the prompt and after the negative prompt, side by side. Its logits are the
    guided log-probabilities, which are not normalised again."""

    def __init__(self, guidance: Guidance, conditional: Decoder, unconditional: Decoder) -> None:
        self.guidance, self.conditional, self.unconditional = guidance, conditional, unconditional
        self.hidden: Tensor | None = None  # after the prompt

    def start(self, ids: Tensor) -> Tensor:
        """As `Decoder.start`; the other decoder reads the negative prompts."""
        negative = ids[:, -1:] if self.guidance.ids is None else self.guidance.ids
        return self.combine(self.conditional.start(ids), self.unconditional.start(negative))

    def advance(self, index: Tensor | None, token: Tensor, prefix_length: int = 0) -> Tensor:
        """As `Decoder.advance`; the texts have unequal lengths, so the other decoder copies all of its cache."""
        return self.combine(
            self.conditional.advance(index, token, prefix_length), self.unconditional.advance(index, token)
        )

    def extend(self, tokens: Tensor) -> Tensor:
        """As `Decoder.extend`"""
        return self.combine(self.conditional.extend(tokens), self.unconditional.extend(tokens))

    def rewind(self, count: int) -> None:
        """As `Decoder.rewind`"""
        self.conditional.rewind(count)
        self.unconditional.rewind(count)

    def combine(self, conditional: Tensor, unconditional: Tensor) -> Tensor:
        """logits [...,V] of both -> [...,V], at least float32"""
        self.hidden = self.conditional.hidden
        wide = torch.promote_types(conditional.dtype, torch.float32)
        given, without = conditional.to(wide).log_softmax(-1), unconditional.to(wide).log_softmax(-1)
        return self.guidance.scale * (given - without) + without
