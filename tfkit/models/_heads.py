"""How an encoder is called and what is on top of it: from the arguments of a call to checked inputs, and from states to
the output of a head. The heads here are the language models'; those of tasks are in `_task_heads`.

A head is created from a configuration and called with the encoder's output and the targets of its task; it returns
fields of an `Output`. NEEDS_POOLER: whether it reads the first position through the pooler. TARGETS: the labels that it
accepts. The model gives `embed.tokens`, the table of tokens, `task_head`, the head, and `pooler` or None: see
`add_head`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from ..nn import Cache, Dropout
from ..nn.feed_forward import get_activation
from ..objectives.cross_entropy import cross_entropy, next_labels, word_scores
from ._base import Output, check_ids, check_target, to_padding_mask


class HeadInputs(NamedTuple):
    """states [B,L,E]; pooled [B,E] or None; table [V,E], the embeddings; mask bool [B,L] or None; choices per
    question."""

    states: torch.Tensor
    pooled: Any
    table: torch.Tensor
    mask: torch.Tensor | None
    choices: int


class Head(nn.Module):
    NEEDS_POOLER: ClassVar[bool] = False
    HAS_OUTPUT_MATRIX: ClassVar[bool] = False  # whether it has an output matrix, `HeadInputs.table`
    TARGETS: ClassVar[tuple[str, ...]] = ("labels",)

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.drop = Dropout(c.dropout if c.head_dropout is None else c.head_dropout)


class NoHead(Head):
    """No head: the states alone."""

    TARGETS = ()

    def forward(self, inputs: HeadInputs) -> dict[str, Any]:
        return {"last_hidden_state": inputs.states, "pooler_output": inputs.pooled}


class NoHeadWithPooler(NoHead):
    """No head, but the pooled first position in addition to the states."""

    NEEDS_POOLER = True


class WordHead(Head):
    """A score for every word of the vocabulary at every position, computed by the subclasses' `scores`."""

    HAS_OUTPUT_MATRIX = True

    def scores(self, inputs: HeadInputs) -> torch.Tensor:
        """-> [B,L,V]"""
        raise NotImplementedError

    def targets(self, labels: torch.Tensor) -> torch.Tensor:
        """The target of each position, from labels [B,L]: the label at that position"""
        return labels

    def forward(self, inputs: HeadInputs, labels: torch.Tensor | None = None) -> dict[str, Any]:
        """labels [B,L] (-100: not counted) -> loss, logits [B,L,V], last_hidden_state [B,L,E]"""
        logits = self.scores(inputs)
        loss = None if labels is None else cross_entropy(logits, self.targets(labels))
        return {"loss": loss, "logits": logits, "last_hidden_state": inputs.states}


class MaskedLMHead(WordHead):
    """Predicts masked tokens: a layer, then the embeddings themselves as the output matrix."""

    def __init__(self, c: Any, width: int | None = None, activation_name: str | None = None) -> None:
        super().__init__(c)
        width = width or c.d_model  # of the embeddings, if they differ from the states in width
        self.dense, self.norm = nn.Linear(c.d_model, width), nn.LayerNorm(width, c.eps)
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))
        self.activation = get_activation(activation_name or c.activation)

    def scores(self, inputs: HeadInputs) -> Tensor:
        return word_scores(self.norm(self.activation(self.dense(inputs.states))), inputs.table, self.bias)  # [B,L,V]


class TiedLM(WordHead):
    """Predicts tokens with the embeddings as the output matrix, directly on the states, and a bias."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.bias = nn.Parameter(torch.zeros(c.vocab_size))

    def scores(self, inputs: HeadInputs) -> Tensor:
        return word_scores(inputs.states, inputs.table, self.bias)


class ShiftedLabels(WordHead):
    """A mixin, placed before a masked language model's head, that makes it predict the next token."""

    def targets(self, labels: torch.Tensor) -> torch.Tensor:
        return next_labels(labels)


class CausalLMHead(ShiftedLabels, MaskedLMHead):
    """Predicts the next token with the same layers, for a causal model."""


class PretrainingHead(MaskedLMHead):
    """BERT's two pretraining heads together; the loss is the sum of the losses for the given labels."""

    NEEDS_POOLER = True
    TARGETS = ("labels", "next_sentence_label")

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.seq_relationship = nn.Linear(c.d_model, 2)

    def forward(
        self, inputs: HeadInputs, labels: torch.Tensor | None = None, next_sentence_label: torch.Tensor | None = None
    ) -> dict[str, Any]:
        """labels [B,L], next_sentence_label [B] -> loss, prediction_logits [B,L,V], seq_relationship_logits [B,2]"""
        words, pair = self.scores(inputs), self.seq_relationship(inputs.pooled)
        return {
            "loss": sum_losses(words, labels, pair, check_classes("next_sentence_label", next_sentence_label, pair)),
            "prediction_logits": words,
            "seq_relationship_logits": pair,
        }


def sum_losses(words: Tensor, labels: Tensor | None, pair: Tensor, pair_labels: Tensor | None) -> Tensor | None:
    """The sum of two cross-entropies, as far as their labels are given."""
    found = [cross_entropy(x, y) for x, y in ((words, labels), (pair, pair_labels)) if y is not None]
    return sum(found[1:], found[0]) if found else None


def check_classes(name: str, given: Tensor | None, logits: Tensor) -> Tensor | None:
    """The target called `name`, if it holds a class of logits [...,N] for each row; None stays None."""
    return None if given is None else check_target(name, given, logits.shape[:-1], logits.size(-1))


@dataclass(frozen=True)
class EncoderInputs:
    """ids [B,L]; types, position_ids, and extra inputs by name, as given or None; mask bool [B,K] or None; targets: of
    the head; choices: the number of rows of ids per question."""

    ids: Tensor
    types: Tensor | None
    position_ids: Tensor | None
    extra: dict[str, Tensor | None]
    mask: Tensor | None
    targets: dict[str, Tensor]
    choices: int


def encoder_inputs(
    model: Any,
    input_ids: Tensor | None,
    attention_mask: Tensor | None,
    token_type_ids: Tensor | None,
    position_ids: Tensor | None,
    targets: Mapping[str, Tensor | None],
    *,
    extra: Mapping[str, Tensor | None] | None = None,
    past: int | Tensor = 0,
) -> EncoderInputs:
    """Checks the inputs; for multiple choice [B,C,L] becomes rows [B·C,L]. extra: further inputs of that shape; past:
    the number of positions in a cache, which the mask also covers. Raises ValueError or TypeError for invalid
    inputs."""
    known, choices = model.check_targets(dict(targets)), 1
    given = {"input_ids": input_ids, "types": token_type_ids, "position_ids": position_ids, **(extra or {})}
    if model.head == "multiple_choice":
        choices, given, attention_mask = flatten_choices(given, attention_mask)
    ids = check_ids("input_ids", given.pop("input_ids"))
    types, position_ids = given.pop("types"), given.pop("position_ids")
    if types is not None and types.shape != ids.shape:
        raise ValueError(f"token_type_ids has shape {list(types.shape)}, input_ids has {list(ids.shape)}")
    if position_ids is not None and position_ids.shape[-1:] != ids.shape[-1:]:
        raise ValueError(f"position_ids has shape {list(position_ids.shape)}, input_ids has {list(ids.shape)}")
    mask = to_padding_mask("attention_mask", attention_mask, (ids.size(0), past + ids.size(1)))
    return EncoderInputs(ids, types, position_ids, given, mask, known, choices)


def flatten_choices(given: dict[str, Any], mask: Tensor | None) -> tuple[int, dict[str, Any], Tensor | None]:
    """Tensors [B,C,L] as [B*C,L], so that every choice is a row of its own -> choices, tensors, mask"""
    ids = given["input_ids"]
    if ids is None or ids.dim() != 3:
        shape = None if ids is None else list(ids.shape)
        raise ValueError(f"input_ids must be integers [B,C,L] for multiple choice; got {shape}")
    flat = {name: t if t is None else t.flatten(0, 1) for name, t in given.items()}
    return ids.size(1), flat, mask if mask is None else mask.flatten(0, 1)


def add_head(model: Any, head_classes: Mapping[str | None, type[Head]]) -> None:
    """Adds the head to the model, with the pooler and the separate output matrix if the head needs them."""
    c = model.config
    model.task_head = head_classes[model.head](c)
    model.pooler = nn.Linear(c.d_model, c.d_model) if model.task_head.NEEDS_POOLER else None
    if model.task_head.HAS_OUTPUT_MATRIX and not c.tie_word_embeddings:
        model.untie(model.embed.tokens)


def with_head(model: Any, inputs: EncoderInputs, x: Tensor, cache: Cache | None = None) -> Output:
    """The head's output for the states x [B,L,E]."""
    pooled = None if model.pooler is None else torch.tanh(model.pooler(x[:, 0]))  # [B,E]
    head_inputs = HeadInputs(x, pooled, model.output_matrix(model.embed.tokens), inputs.mask, inputs.choices)
    return Output(model.task_head(head_inputs, **inputs.targets), cache=cache)
