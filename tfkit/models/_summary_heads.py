"""Heads of XLM and XLNet: a summary of the states in place of a pooler; spans whose end depends on the start."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn import Dropout
from ..nn.feed_forward import get_activation
from ..objectives.cross_entropy import cross_entropy
from . import _base
from . import _task_heads as task_heads
from ._checks import check_probabilities, check_target

SUMMARIES = {"first": lambda x: x[:, 0], "last": lambda x: x[:, -1], "mean": lambda x: x.mean(1)}


def summary(kind: str) -> Callable[..., Any]:
    """-> a function from states [B,L,E] to [B,E]. Raises ValueError for an unknown kind."""
    if kind not in SUMMARIES:
        raise ValueError(f"summary_type {kind!r} is not one of {', '.join(SUMMARIES)}")
    return SUMMARIES[kind]


class SequenceClassificationHead(task_heads.SequenceHead):
    """Classifies the summary of a text directly."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.drop, self.summary = Dropout(c.summary_dropout), nn.Linear(c.d_model, c.num_labels)
        self.select = summary(c.summary_type)
        self.activation = get_activation(c.summary_activation) if c.summary_activation else nn.Identity()

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return self.activation(self.summary(self.drop(self.select(inputs.states))))


class MultipleChoiceHead(SequenceClassificationHead):
    """One score per choice, a weighted sum of its label scores."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.logits_proj = nn.Linear(c.num_labels, 1)

    def forward(self, inputs: _base.HeadInputs, labels: Tensor | None = None) -> dict[str, Tensor]:
        logits = self.logits_proj(self.scores(inputs)).view(-1, inputs.choices)  # [B,C]
        return {"loss": None if labels is None else cross_entropy(logits, labels), "logits": logits}


class Summary(_base.Head):
    """One state through a layer with an activation, in place of a pooler."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.select, self.drop = summary(c.summary_type), Dropout(c.summary_dropout)
        self.summary = nn.Linear(c.d_model, c.d_model) if c.summary_use_proj else nn.Identity()
        self.activation = get_activation(c.summary_activation) if c.summary_activation else nn.Identity()

    def summarise(self, inputs: _base.HeadInputs) -> Tensor:
        """-> [B,E]"""
        return self.drop(self.activation(self.summary(self.select(inputs.states))))


class SummaryChoice(Summary, task_heads.ChoiceHead):
    """A score for each choice."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.classifier = nn.Linear(c.d_model, 1)

    def scores(self, inputs: _base.HeadInputs) -> Tensor:
        return self.classifier(self.summarise(inputs))


class BeamQuestionAnsweringHead(_base.Head):
    """Predicts where an answer starts, where it ends given the start, and whether there is no answer.

    Training uses the true start; without one, the n_start best starts are continued. p_mask [B,L]: 1 where no answer
    can be; cls_index [B]: the token that represents the text, default the last.
    """

    TARGETS = ("start_positions", "end_positions", "is_impossible", "cls_index", "p_mask")

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.start_logits = nn.Linear(c.d_model, 1)
        self.end_dense, self.end_norm = nn.Linear(2 * c.d_model, c.d_model), nn.LayerNorm(c.d_model, c.eps)
        self.end_logits = nn.Linear(c.d_model, 1)
        self.answer_dense, self.answer_logits = nn.Linear(2 * c.d_model, c.d_model), nn.Linear(c.d_model, 1, bias=False)
        self.n_start, self.n_end = c.n_start, c.n_end

    def ends(self, x: Tensor, starts: Tensor, p_mask: Tensor | None) -> Tensor:
        """x [B,L,E], states of the starts [B,N,E] -> logits of the ends [B,L,N]"""
        # the product over the concatenation [E,2E], as two products without a copy for every pair
        here, there = self.end_dense.weight.chunk(2, 1)
        mixed = F.linear(x, here)[:, :, None] + F.linear(starts, there, self.end_dense.bias)[:, None]  # [B,L,N,E]
        logits = self.end_logits(self.end_norm(mixed.tanh())).squeeze(-1)
        return logits if p_mask is None else mask_impossible(logits, p_mask[..., None])

    def answerable(self, x: Tensor, start: Tensor, cls_index: Tensor) -> Tensor:
        """x [B,L,E], the start's state [B,E] -> logits [B]: above 0 means that there is no answer"""
        text = x[:, -1] if cls_index is None else gather_positions(x, cls_index[:, None])[:, 0]
        return self.answer_logits(self.answer_dense(torch.cat([start, text], -1)).tanh()).squeeze(-1)

    def forward(
        self,
        inputs: _base.HeadInputs,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        is_impossible: Tensor | None = None,
        cls_index: Tensor | None = None,
        p_mask: Tensor | None = None,
    ) -> dict[str, Tensor]:
        x = inputs.states
        self.check(x, start_positions=start_positions, end_positions=end_positions, cls_index=cls_index)
        logits = self.start_logits(x).squeeze(-1)  # [B,L]
        if p_mask is not None:
            check_probabilities("p_mask", p_mask, logits.shape)
        logits = logits if p_mask is None else mask_impossible(logits, p_mask)
        if start_positions is None or end_positions is None:
            return self.search_spans(x, logits.softmax(-1), cls_index, p_mask)
        start = gather_positions(x, start_positions[:, None])  # [B,1,E]
        end = self.ends(x, start, p_mask).squeeze(-1)
        loss = (cross_entropy(logits, start_positions) + cross_entropy(end, end_positions)) / 2
        if cls_index is not None and is_impossible is not None:
            no = self.answerable(x, start[:, 0], cls_index)
            check_probabilities("is_impossible", is_impossible, no.shape)
            loss = loss + F.binary_cross_entropy_with_logits(no, is_impossible.to(no.dtype)) / 2
        return {"loss": loss}

    def check(self, x: Tensor, **positions: Any) -> None:
        """Raises TypeError or ValueError unless they are positions in x [B,L,E], int64 [B], or None."""
        for name, at in positions.items():
            if at is not None:
                check_target(name, at, x.shape[:1], x.size(1), None)

    def search_spans(self, x: Tensor, chance: Tensor, cls_index: Any, p_mask: Tensor | None) -> dict[str, Tensor]:
        """The best starts by probability [B,L], and the best ends for each: [B,n_end·n_start], the start varies
        fastest"""
        start_probs, at = chance.topk(min(self.n_start, x.size(1)), -1)
        ends = self.ends(x, gather_positions(x, at), p_mask).softmax(1)
        end, end_at = ends.topk(min(self.n_end, x.size(1)), 1)  # [B,n_end,n_start]
        expected = (chance[:, None] @ x).squeeze(1)
        return {
            "start_top_log_probs": start_probs,  # probabilities, not logarithms: the name is transformers' own
            "start_top_index": at,
            "end_top_log_probs": end.flatten(1),
            "end_top_index": end_at.flatten(1),
            "cls_logits": self.answerable(x, expected, cls_index),
        }


def gather_positions(x: Tensor, index: Tensor) -> Tensor:
    """x [B,L,E], index int64 [B,N] -> [B,N,E]"""
    return x.gather(1, index[..., None].expand(-1, -1, x.size(-1)))


def mask_impossible(logits: Tensor, p_mask: Tensor) -> Tensor:
    """Sets logits to -1e30, or the lowest value of their dtype, where p_mask, which is broadcast, is 1"""
    return logits.masked_fill(p_mask.bool(), max(-1e30, torch.finfo(logits.dtype).min))


NAMES = {
    "sequence_summary.summary": "task_head.summary",
    "logits_proj": "task_head.logits_proj",
    "qa_outputs.start_logits.dense": "task_head.start_logits",
    "qa_outputs.end_logits.dense_0": "task_head.end_dense",
    "qa_outputs.end_logits.LayerNorm": "task_head.end_norm",
    "qa_outputs.end_logits.dense_1": "task_head.end_logits",
    "qa_outputs.answer_class.dense_0": "task_head.answer_dense",
    "qa_outputs.answer_class.dense_1": "task_head.answer_logits",
}
