"""Heads for tasks with labels of their own: classes of a text or of its tokens, spans, choices.

See `_base` for what a head is; the heads of language models are there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn import Dropout
from ..nn.feed_forward import get_activation
from ..objectives.cross_entropy import cross_entropy, next_labels
from ._base import Head, HeadInputs, MaskedLMHead
from ._checks import check_classes, check_probabilities, check_target, require_tensor


def label_loss(logits: Tensor, labels: Tensor, problem: str | None) -> Tensor:
    """The loss of logits [B,N] against classes [B], numbers [B] or [B,N], or binary labels [B,N]; problem says which.

    problem: "regression", "single_label_classification", "multi_label_classification", or None: by the labels -> scalar
    """
    require_tensor("labels", labels)
    if problem is None:
        one_class = "single_label_classification" if not labels.is_floating_point() else "multi_label_classification"
        problem = "regression" if logits.size(-1) == 1 else one_class
    if problem != "single_label_classification" and labels.numel() != logits.numel():
        raise ValueError(f"labels have shape {list(labels.shape)}; {problem} expects {list(logits.shape)}")
    if problem == "regression":
        return F.mse_loss(logits, labels.reshape(logits.shape))
    if problem == "single_label_classification":
        return cross_entropy(logits, labels)
    return F.binary_cross_entropy_with_logits(logits, labels)


class ReplacedTokenHead(Head):
    """Predicts whether each token was replaced by the generator (1) or is original (0), over the tokens in the mask."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.discriminator_dense, self.dense_prediction = nn.Linear(c.d_model, c.d_model), nn.Linear(c.d_model, 1)
        self.activation = get_activation(c.activation)

    def forward(self, inputs: HeadInputs, labels: Tensor | None = None) -> dict[str, Any]:
        logits = self.dense_prediction(self.activation(self.discriminator_dense(inputs.states))).squeeze(-1)  # [B,L]
        loss = None
        if labels is not None:
            non_padding = torch.ones_like(logits, dtype=torch.bool) if inputs.mask is None else inputs.mask
            check_probabilities("labels", labels, logits.shape, non_padding)
            each = F.binary_cross_entropy_with_logits(logits, labels.to(logits.dtype), reduction="none")
            loss = each.masked_fill(~non_padding, 0.0).sum() / non_padding.sum().clamp(min=1)
        return {"loss": loss, "logits": logits, "last_hidden_state": inputs.states}


class NextSentenceHead(Head):
    """Predicts whether the second sentence follows the first (0) or is from elsewhere (1)."""

    NEEDS_POOLER = True

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.seq_relationship = nn.Linear(c.d_model, 2)

    def forward(self, inputs: HeadInputs, labels: Tensor | None = None) -> dict[str, Tensor]:
        logits = self.seq_relationship(inputs.pooled)
        return {"loss": None if labels is None else cross_entropy(logits, labels), "logits": logits}


class SequenceHead(Head, ABC):
    """A label, a number, or several labels for the whole sequence, computed by the subclasses' `scores`."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.problem = c.problem_type

    @abstractmethod
    def scores(self, inputs: HeadInputs) -> torch.Tensor:
        """-> [B,N]"""

    def forward(self, inputs: HeadInputs, labels: torch.Tensor | None = None) -> dict[str, Any]:
        """labels as in `label_loss` -> loss, logits [B,N]"""
        logits = self.scores(inputs)
        return {"loss": None if labels is None else label_loss(logits, labels, self.problem), "logits": logits}


class SequenceClassificationHead(SequenceHead):
    """Classifies the pooled first position."""

    NEEDS_POOLER = True

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.classifier = nn.Linear(c.d_model, c.num_labels)

    def scores(self, inputs: HeadInputs) -> Tensor:
        return self.classifier(self.drop(inputs.pooled))  # [B,N]


class ClsTokenClassificationHead(SequenceHead):
    """Classifies the first position, through a layer of the head's own. width: of the states, default d_model."""

    def __init__(self, c: Any, activation_name: str = "tanh", width: int | None = None) -> None:
        super().__init__(c)
        self.pre_classifier, self.score = nn.Linear(width or c.d_model, c.d_model), nn.Linear(c.d_model, c.num_labels)
        self.activation = get_activation(activation_name)

    def scores(self, inputs: HeadInputs) -> Tensor:
        return self.score(self.drop(self.activation(self.pre_classifier(self.drop(inputs.states[:, 0])))))


class LastTokenClassificationHead(SequenceHead):
    """Classifies the last token before padding, the only one that has seen the whole text."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.score = nn.Linear(c.d_model, c.num_labels, bias=False)

    def scores(self, inputs: HeadInputs) -> Tensor:
        return self.score(last_token_states(inputs.states, inputs.mask))  # [B,N]


def last_token_states(states: Tensor, mask: Tensor | None) -> Tensor:
    """states [B,L,E], mask bool [B,L] or None -> [B,E]: the last position where the mask is True, or the first if none
    is"""
    if mask is None:
        return states[:, -1]
    last = (mask * torch.arange(mask.size(1), device=mask.device)).argmax(-1)  # [B]
    return states[torch.arange(len(states), device=states.device), last]


class ChoiceHead(Head, ABC):
    """Chooses one of several continuations. Each is read separately and gets one score from the subclasses'
    `scores`."""

    @abstractmethod
    def scores(self, inputs: HeadInputs) -> torch.Tensor:
        """-> [B·C,1]"""

    def forward(self, inputs: HeadInputs, labels: torch.Tensor | None = None) -> dict[str, Any]:
        """labels [B] -> loss, logits [B,C]"""
        logits = self.scores(inputs).view(-1, inputs.choices)
        return {"loss": None if labels is None else cross_entropy(logits, labels), "logits": logits}


class MultipleChoiceHead(ChoiceHead):
    """Scores the pooled first position."""

    NEEDS_POOLER = True

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.classifier = nn.Linear(c.d_model, 1)

    def scores(self, inputs: HeadInputs) -> Tensor:
        return self.classifier(self.drop(inputs.pooled))


class TokenClassificationHead(Head):
    """A label for every token."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.classifier = nn.Linear(c.d_model, c.num_labels)

    def forward(self, inputs: HeadInputs, labels: Tensor | None = None) -> dict[str, Tensor]:
        logits = self.classifier(self.drop(inputs.states))  # [B,L,N]
        return {"loss": None if labels is None else cross_entropy(logits, labels), "logits": logits}


class DecoderTokenClassificationHead(Head):
    """A label for every token, with the tensor name that decoders' files use."""

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.score = nn.Linear(c.d_model, c.num_labels)

    def forward(self, inputs: HeadInputs, labels: Tensor | None = None) -> dict[str, Tensor]:
        logits = self.score(self.drop(inputs.states))  # [B,L,N]
        return {"loss": None if labels is None else cross_entropy(logits, labels), "logits": logits}


class SpanHead(Head, ABC):
    """Predicts where the answer starts and ends. A target beyond the end means that the answer is not in this window.
    The subclasses define `scores`."""

    TARGETS: ClassVar[tuple[str, ...]] = ("start_positions", "end_positions")

    @abstractmethod
    def scores(self, inputs: HeadInputs) -> torch.Tensor:
        """-> [B,L,2]"""

    def forward(
        self, inputs: HeadInputs, start_positions: torch.Tensor | None = None, end_positions: torch.Tensor | None = None
    ) -> dict[str, Any]:
        """start_positions, end_positions [B] -> loss, start_logits [B,L], end_logits [B,L]"""
        start, end = self.scores(inputs).unbind(-1)  # [B,L] each
        loss = None
        for name, at in (("start_positions", start_positions), ("end_positions", end_positions)):
            if at is not None:
                check_target(name, at, start.shape[:1], None)
        if (start_positions is None) != (end_positions is None):
            raise ValueError("a loss needs start_positions and end_positions: only one of them was given")
        if start_positions is not None and end_positions is not None:
            outside = start.size(1)
            pairs = ((start, start_positions), (end, end_positions))
            loss = sum(cross_entropy(logits, at.clamp(0, outside), ignored=outside) for logits, at in pairs) / 2
        return {"loss": loss, "start_logits": start, "end_logits": end}


class QuestionAnsweringHead(SpanHead):
    """Scores each state separately. width: of the states, default d_model."""

    def __init__(self, c: Any, width: int | None = None) -> None:
        super().__init__(c)
        self.qa_outputs = nn.Linear(width or c.d_model, 2)

    def scores(self, inputs: HeadInputs) -> Tensor:
        return self.qa_outputs(inputs.states)  # [B,L,2]


class DoubleHeads(Head):
    """The language model, and a choice between continuations from the states at `mc_token_ids` (default: the last)."""

    HAS_OUTPUT_MATRIX = True
    TARGETS = ("labels", "mc_labels", "mc_token_ids")

    def __init__(self, c: Any) -> None:
        super().__init__(c)
        self.mc_classifier, self.drop = nn.Linear(c.d_model, 1), Dropout(c.choice_dropout)
        self.activation = get_activation(c.choice_activation) if c.choice_activation else nn.Identity()

    def forward(
        self,
        inputs: HeadInputs,
        labels: Tensor | None = None,
        mc_labels: Tensor | None = None,
        mc_token_ids: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """labels [B,C,L], shifted here; mc_labels [B], mc_token_ids [B,C] -> logits [B,C,L,V], mc_logits [B,C]"""
        words = F.linear(inputs.states, inputs.table).unflatten(0, (-1, inputs.choices))
        at = inputs.states[:, -1]
        if mc_token_ids is not None:
            check_target("mc_token_ids", mc_token_ids, words.shape[:2], words.size(2), None)
            at = inputs.states[torch.arange(len(at), device=at.device), mc_token_ids.flatten()]
        chosen = self.activation(self.mc_classifier(self.drop(at))).view(-1, inputs.choices)
        loss = None if labels is None else cross_entropy(words, next_labels(labels))
        mc_loss = None
        if mc_labels is not None:
            check_classes("mc_labels", mc_labels, chosen)
            mc_loss = cross_entropy(chosen, mc_labels)
        return {"loss": loss, "mc_loss": mc_loss, "logits": words, "mc_logits": chosen}


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
