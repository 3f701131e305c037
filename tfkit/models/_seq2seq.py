"""How encoder-decoders are called, and what published ones have besides their language model: task heads, and the
decoder alone. These are functions of a model, which a class uses as methods: `forward = seq2seq_forward`.

For a task, the decoder reads the source again, shifted right, and the head reads the decoder's states. The model
provides:
encode(input_ids, attention_mask) -> Output with last_hidden_state [B,S,E];
decode(ids, memory, mask, memory_mask, cache) -> [B,T,E]; score(x [B,T,E]) -> logits [B,T,V];
decoder_ids(given, labels) -> the decoder's input, as `shifted_labels`; loss(logits, labels) -> scalar;
read_mask(ids) -> the shifted labels that may be attended to, bool [B,T]; None: all, as causality hides later ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..nn import Cache
from ..objectives.cross_entropy import cross_entropy
from . import _base
from . import _task_heads as task_heads
from ._base import TaskConfig, configuration, to_padding_mask
from ._checks import check_ids, check_memory
from ._output import Output


def decoder_ids(config: Any, decoder_input_ids: torch.Tensor | None, labels: torch.Tensor | None) -> torch.Tensor:
    """The decoder's input: the given ids, or the labels shifted right (-100 becomes padding)."""
    if decoder_input_ids is not None:
        return check_ids("decoder_input_ids", decoder_input_ids)
    if labels is None:
        raise ValueError("pass decoder_input_ids, or labels to make them from")
    labels = check_ids("labels", labels)
    shifted = labels.masked_fill(labels == -100, config.pad_token_id)[:, :-1]
    return F.pad(shifted, (1, 0), value=config.decoder_start_token_id)


def shifted_labels(self: Any, given: Tensor | None, labels: Tensor | None) -> Tensor:
    """The decoder's input: given ids [B,T], or labels [B,T] shifted right"""
    return decoder_ids(self.config, given, labels)


def all_labels(self: Any, ids: Tensor) -> Tensor | None:
    """A model's `read_mask` if only causality hides labels: None."""
    return None


def states_of(encoder_outputs: Any) -> Tensor:
    """The states [B,S,E] in the output of an encoder: by name, first in a tuple, or alone. Raises TypeError if there
    are none."""
    found = encoder_outputs
    if isinstance(found, Mapping):
        found = found.get("last_hidden_state")
    elif isinstance(found, tuple | list) and found:
        found = found[0]
    else:
        found = getattr(found, "last_hidden_state", found)
    if not isinstance(found, Tensor):
        kind = type(encoder_outputs).__name__
        raise TypeError(f"encoder_outputs of type {kind} holds no states: pass what model.encode(input_ids) returned")
    return found


def decoder_states(
    model: Any,
    input_ids: Tensor | None,
    attention_mask: Tensor | None,
    ids: Tensor,
    decoder_attention_mask: Tensor | None,
    encoder_outputs: Any,
    cache: Cache | None,
) -> tuple[Tensor, Tensor]:
    """Everything below the head -> the decoder's states for ids [B,T]: [B,T,E], and its memory [B,S,E]"""
    memory = model.encode(input_ids, attention_mask) if encoder_outputs is None else encoder_outputs
    memory = check_memory("encoder_outputs", ids, states_of(memory), getattr(model.config, "d_model", None))
    past = 0 if cache is None else cache.past
    mask = to_padding_mask("decoder_attention_mask", decoder_attention_mask, (ids.size(0), past + ids.size(1)))
    memory_mask = to_padding_mask("attention_mask", attention_mask, memory.shape[:2])
    return model.decode(ids, memory, mask, memory_mask, cache), memory


def seq2seq_forward(
    self: Any,
    input_ids: Tensor | None = None,
    attention_mask: Tensor | None = None,
    decoder_input_ids: Tensor | None = None,
    decoder_attention_mask: Tensor | None = None,
    labels: Tensor | None = None,
    *,
    encoder_outputs: Any = None,
    cache: Cache | None = None,
    use_cache: bool = False,
) -> Output:
    """input_ids [B,S], decoder_input_ids [B,T] or labels [B,T] (-100: not counted) -> Output: loss, logits [B,T,V],
    last_hidden_state [B,T,E], encoder_last_hidden_state [B,S,E], cache. With a cache, decoder_input_ids are the new
    ones only; decoder_attention_mask covers all. Raises ValueError, TypeError for what does not fit."""
    self.require_head(labels)
    ids = self.decoder_ids(decoder_input_ids, labels)
    if decoder_input_ids is None and decoder_attention_mask is None:
        decoder_attention_mask = self.read_mask(ids)
    cache = Cache() if use_cache and cache is None else cache
    x, memory = decoder_states(self, input_ids, attention_mask, ids, decoder_attention_mask, encoder_outputs, cache)
    logits = self.score(x) if self.head else None
    loss = None if labels is None or logits is None else self.loss(logits, labels)
    return Output(loss=loss, logits=logits, last_hidden_state=x, encoder_last_hidden_state=memory, cache=cache)


@configuration
class Seq2SeqTaskConfig(TaskConfig):
    """The configuration of a task head."""

    head_dropout: float | None = 0.0


LABEL_FIELDS = {"classifier_dropout": "head_dropout", **_base.LABEL_FIELDS}
LABEL_NAMES = {
    "classification_head.dense": "task_head.pre_classifier",
    "classification_head.out_proj": "task_head.score",
}
LABEL_NAMES |= {"qa_outputs": "task_head.qa_outputs"}


def last_eos_state(x: Tensor, ids: Tensor, token: int) -> Tensor:
    """The state at the last `token` of each row of ids: x [B,L,E], ids [B,L] -> [B,1,E]"""
    found = ids == token
    last = (found * torch.arange(1, ids.size(1) + 1, device=ids.device)).amax(1) - 1
    # beyond the end: the look-up fails, and only then is the cause searched
    last = last.masked_fill(~found.any(1), ids.size(1))
    try:
        return x[torch.arange(len(ids), device=ids.device), last][:, None]
    except IndexError:
        raise ValueError(f"input_ids has a row without eos_token_id={token}, whose state is classified") from None


HEAD_CLASSES: dict[str | None, type[_base.Head]] = {  # the heads that read the decoder
    "sequence_classification": task_heads.ClsTokenClassificationHead,
    "question_answering": task_heads.QuestionAnsweringHead,
}


def make_task_head(model: Any) -> nn.Module | None:
    """The head's own layers, or None: from `HEAD_CLASSES`, or from the model's ENCODER_HEAD_CLASSES, which use only the
    encoder."""
    head_classes = {**HEAD_CLASSES, **model.ENCODER_HEAD_CLASSES}
    return head_classes[model.head](model.config) if model.head in head_classes else None


def tasks_forward(
    self: Any,
    input_ids: Tensor | None = None,
    attention_mask: Tensor | None = None,
    decoder_input_ids: Tensor | None = None,
    decoder_attention_mask: Tensor | None = None,
    labels: Tensor | None = None,
    **given: Any,
) -> Output:
    """As `seq2seq_forward`, with a language model head or no head. Labels of a task: [B] or [B,N] for a sequence;
    start_positions, end_positions [B]; [B,S] for tokens. head "causal_lm": see `decoder_alone`. SHIFTS_INPUT_IDS:
    whether the decoder reads the shifted source by default."""
    if self.head == "causal_lm":
        return decoder_alone(self, input_ids, attention_mask, labels, **given)
    if self.SHIFTS_INPUT_IDS and labels is None and decoder_input_ids is None:
        decoder_input_ids = self.decoder_ids(None, input_ids)
    if self.task_head is None:
        ids = decoder_input_ids, decoder_attention_mask
        return seq2seq_forward(self, input_ids, attention_mask, *ids, labels, **given)
    reads = {"decoder_input_ids": decoder_input_ids, "decoder_attention_mask": decoder_attention_mask}
    return task(self, input_ids, attention_mask, reads, {"labels": labels, **given})


def task(
    model: Any,
    input_ids: Tensor | None,
    attention_mask: Tensor | None,
    reads: dict[str, Tensor | None],
    targets: dict[str, Any],
) -> Output:
    """reads: the decoder's input, if given -> Output with the fields of the head"""
    input_ids = check_ids("input_ids", input_ids)
    if model.head in model.ENCODER_HEAD_CLASSES:
        targets, x, memory = model.check_targets({**targets, **reads}), model.encode(input_ids, attention_mask)[0], None
    else:
        memory = targets.pop("encoder_outputs", None)
        targets, ids = model.check_targets(targets), model.decoder_ids(reads["decoder_input_ids"], input_ids)
        decoder_mask = reads["decoder_attention_mask"]
        x, memory = decoder_states(model, input_ids, attention_mask, ids, decoder_mask, memory, None)
    end = model.head == "sequence_classification"
    states = last_eos_state(x, input_ids, model.config.eos_token_id) if end else x
    out = model.task_head(_base.HeadInputs(states, None, model.embed.weight, None, 1), **targets)
    return Output({**out, "last_hidden_state": x, "encoder_last_hidden_state": memory})


def decoder_alone(
    model: Any,
    input_ids: Tensor | None = None,
    attention_mask: Tensor | None = None,
    labels: Tensor | None = None,
    *,
    encoder_hidden_states: Tensor | None = None,
    encoder_attention_mask: Tensor | None = None,
    cache: Cache | None = None,
    use_cache: bool = False,
) -> Output:
    """The decoder without its encoder: input_ids [B,L], labels [B,L], which are not shifted here, as in transformers;
    encoder_hidden_states [B,S,E]: of another encoder, or None -> Output: loss, logits, last_hidden_state, cache"""
    ids = check_ids("input_ids", input_ids)
    cache = Cache() if use_cache and cache is None else cache
    past = 0 if cache is None else cache.past
    mask = to_padding_mask("attention_mask", attention_mask, (ids.size(0), past + ids.size(1)))
    memory, memory_mask = encoder_hidden_states, None
    if memory is not None:
        check_memory("encoder_hidden_states", ids, memory, getattr(model.config, "d_model", None))
        memory_mask = to_padding_mask("encoder_attention_mask", encoder_attention_mask, memory.shape[:2])
    x = model.decode(ids, memory, mask, memory_mask, cache)
    logits = model.score(x)
    loss = None if labels is None else cross_entropy(logits, labels)
    return Output(loss=loss, logits=logits, last_hidden_state=x, cache=cache)


# `tasks_forward` passes its keyword arguments on to these: decoding looks up here whether a model takes a cache
tasks_forward.passes_to = seq2seq_forward, decoder_alone  # type: ignore[attr-defined]
