"""The loss of sequence-to-sequence models that map (src, tgt_in) to logits."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfkit.nn import shift_right
from tfkit.train.batches import Batch


class Seq2SeqLoss:
    """Label-smoothed cross-entropy (Szegedy et al. 2016) of `model(src, tgt_in)`, over all targets but padding.

    word_dropout: the share of input words, on both sides, that training replaces by `unk_id` (in the spirit of Gal &
    Ghahramani 2016): without dropout of its own, a model would memorise a small corpus.
    """

    def __init__(
        self, start_id: int, pad_id: int, smoothing: float = 0.1, word_dropout: float = 0.0, unk_id: int | None = None
    ) -> None:
        if word_dropout and unk_id is None:
            raise ValueError("word_dropout needs unk_id, the id that replaces a dropped word")
        self.start_id, self.pad_id, self.smoothing = start_id, pad_id, smoothing
        self.word_dropout, self.unk_id = word_dropout, unk_id

    def __call__(self, model: nn.Module, batch: Batch) -> Tensor:
        """-> scalar"""
        src, tgt_in = batch.src, shift_right(batch.tgt, self.start_id)
        if model.training and self.word_dropout:
            src, tgt_in = self.drop_words(src), self.drop_words(tgt_in)
        logits = model(src, tgt_in)
        logits = getattr(logits, "logits", logits)  # tfkit's models return an output object
        smoothing = self.smoothing if model.training else 0.0
        return F.cross_entropy(
            logits.flatten(0, 1), batch.tgt.flatten(), ignore_index=self.pad_id, label_smoothing=smoothing
        )

    def drop_words(self, ids: Tensor) -> Tensor:
        """`ids` with some words replaced, but never start tokens and padding."""
        keep = (torch.rand(ids.shape, device=ids.device) >= self.word_dropout) | (ids == self.pad_id)
        keep |= ids == self.start_id
        return ids.where(keep, torch.full_like(ids, self.unk_id or 0))


@torch.no_grad()
def initialise(model: nn.Module) -> nn.Module:
    """Initialises weights like the 2017 transformer: Xavier for matrices, N(0, 1/sqrt(d)) for embeddings, zero biases.

    PyTorch's default N(0, 1) embeddings, times sqrt(d_model), would outweigh the positional encodings.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
    return model
