"""What encoder-decoders share: how they are called; and what published ones have beside their language model: tasks,
and the decoder on its own.

For a task the decoder reads the source once more, shifted right, and the head reads the decoder.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from ..nn import Cache
from ..objectives.cross_entropy import cross_entropy
from . import _heads as heads
from ._base import Model, Output, check_ids, check_rows, configuration, decoder_ids, to_bool_mask


class Seq2Seq(Model):
    """From the arguments of a call to its `Output`. A model gives the parts:

    encode(input_ids, attention_mask) -> Output with last_hidden_state [B,S,E];
    decode(ids, memory, mask, memory_mask, cache) -> [B,T,E]; score(x [B,T,E]) -> logits [B,T,V].
    """

    HEADS: ClassVar[tuple[str | None, ...]] = (None, "seq2seq_lm")
    smoothing: float = 0.0  # of the labels, in the loss
    encode: Any
    decode: Any
    score: Any

    def decoder_ids(self, given, labels):
        """What the decoder reads: ids [B,T] as given, or labels [B,T] shifted right"""
        return decoder_ids(self.config, given, labels)

    def states(self, input_ids, attention_mask, ids, decoder_attention_mask, encoder_outputs, cache):
        """Everything below the head -> what the decoder makes of ids [B,T]: [B,T,E], and its memory [B,S,E]"""
        memory = self.encode(input_ids, attention_mask) if encoder_outputs is None else encoder_outputs
        memory = memory.last_hidden_state if isinstance(memory, Output) else memory
        check_rows(ids, memory)
        past = 0 if cache is None else cache.past
        mask = to_bool_mask("decoder_attention_mask", decoder_attention_mask, (ids.size(0), past + ids.size(1)))
        memory_mask = to_bool_mask("attention_mask", attention_mask, memory.shape[:2])
        return self.decode(ids, memory, mask, memory_mask, cache), memory

    def real(self, ids):
        """Which of the shifted labels [B,T] are looked at: bool [B,T], or None, all, as causality hides later ones"""
        return None

    def loss(self, logits, labels):
        """logits [B,T,V], labels [B,T] -> scalar"""
        return cross_entropy(logits, labels, self.smoothing)

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        decoder_input_ids=None,
        decoder_attention_mask=None,
        labels=None,
        *,
        encoder_outputs=None,
        cache=None,
        use_cache=False,
    ):
        """input_ids [B,S], decoder_input_ids [B,T] or labels [B,T] (-100: not counted) -> Output: loss, logits [B,T,V],
        last_hidden_state [B,T,E], encoder_last_hidden_state [B,S,E], cache. With a cache, decoder_input_ids are the new
        ones only; decoder_attention_mask covers all. Raises ValueError, TypeError for what does not fit."""
        self.require_head(labels)
        ids = self.decoder_ids(decoder_input_ids, labels)
        if decoder_input_ids is None and decoder_attention_mask is None:
            decoder_attention_mask = self.real(ids)
        cache = Cache() if use_cache and cache is None else cache
        x, memory = self.states(input_ids, attention_mask, ids, decoder_attention_mask, encoder_outputs, cache)
        logits = self.score(x) if self.head else None
        loss = None if labels is None else self.loss(logits, labels)
        return Output(loss=loss, logits=logits, last_hidden_state=x, encoder_last_hidden_state=memory, cache=cache)


@configuration
class TaskConfig(heads.TaskConfig):
    """What a task's head wants to know."""

    head_dropout: float | None = 0.0


LABEL_FIELDS = {"classifier_dropout": "head_dropout", **heads.LABEL_FIELDS}
LABEL_NAMES = {
    "classification_head.dense": "task_head.pre_classifier",
    "classification_head.out_proj": "task_head.score",
}
LABEL_NAMES |= {"qa_outputs": "task_head.qa_outputs"}


def last_eos_state(x, ids, token):
    """The state where each row of ids has `token` for the last time: x [B,L,E], ids [B,L] -> [B,1,E]"""
    found = ids == token
    place = (found * torch.arange(1, ids.size(1) + 1, device=ids.device)).amax(1) - 1
    place = place.masked_fill(~found.any(1), ids.size(1))  # past the end: the look-up fails, and only that pays
    try:
        return x[torch.arange(len(ids), device=ids.device), place][:, None]
    except IndexError:
        raise ValueError(f"input_ids has a row without eos_token_id={token}, where a sequence is classified") from None


class Seq2SeqWithHeads(Seq2Seq):
    """Comes before the architecture in a model's bases. HEAD_CLASSES: the heads that read the decoder;
    ENCODER_HEAD_CLASSES: those that need the encoder alone."""

    HEAD_CLASSES: ClassVar[dict[str | None, type[heads.Head]]] = {
        "sequence_classification": heads.ClsTokenClassification,
        "question_answering": heads.QuestionAnswering,
    }
    ENCODER_HEAD_CLASSES: ClassVar[dict[str | None, type[heads.Head]]] = {}
    SHIFTS_INPUT_IDS = False
    embed: Any

    def make_task_head(self):
        """The head's own layers, if it has any; called once, at the end of __init__'s parts."""
        tops = {**self.HEAD_CLASSES, **self.ENCODER_HEAD_CLASSES}
        self.task_head: Any = tops[self.head](self.config) if self.head in tops else None

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        decoder_input_ids=None,
        decoder_attention_mask=None,
        labels=None,
        **given,
    ):
        """As the transformer's, with a language model on top or nothing. A task's labels: [B] or [B,N] for a sequence;
        start_positions, end_positions [B]; [B,S] for tokens. head "causal_lm": see `forward_decoder`."""
        if self.head == "causal_lm":
            return self.forward_decoder(input_ids, attention_mask, labels, **given)
        if self.SHIFTS_INPUT_IDS and labels is None and decoder_input_ids is None:
            decoder_input_ids = self.decoder_ids(None, input_ids)
        if self.task_head is None:
            ids = decoder_input_ids, decoder_attention_mask
            return super().forward(input_ids, attention_mask, *ids, labels, **given)
        reads = {"decoder_input_ids": decoder_input_ids, "decoder_attention_mask": decoder_attention_mask}
        return self.forward_task(input_ids, attention_mask, reads, {"labels": labels, **given})

    def forward_task(self, input_ids, attention_mask, reads, targets):
        """reads: what the decoder is given, if anything -> Output with what the head on top gives"""
        check_ids("input_ids", input_ids)
        if self.head in self.ENCODER_HEAD_CLASSES:
            targets, x, memory = (
                self.check_targets({**targets, **reads}),
                self.encode(input_ids, attention_mask)[0],
                None,
            )
        else:
            memory = targets.pop("encoder_outputs", None)
            targets, ids = self.check_targets(targets), self.decoder_ids(reads["decoder_input_ids"], input_ids)
            x, memory = self.states(input_ids, attention_mask, ids, reads["decoder_attention_mask"], memory, None)
        end = self.head == "sequence_classification"
        states = last_eos_state(x, input_ids, self.config.eos_token_id) if end else x
        out = self.task_head(heads.HeadInputs(states, None, self.embed.weight, None, 1), **targets)
        return Output({**out, "last_hidden_state": x, "encoder_last_hidden_state": memory})

    def forward_decoder(
        self,
        input_ids=None,
        attention_mask=None,
        labels=None,
        *,
        encoder_hidden_states=None,
        encoder_attention_mask=None,
        cache=None,
        use_cache=False,
    ):
        """The decoder without its encoder: input_ids [B,L], labels [B,L], which are not shifted here, as upstream does
        not; encoder_hidden_states [B,S,E]: someone else's, or none -> Output: loss, logits, last_hidden_state, cache"""
        ids = check_ids("input_ids", input_ids)
        cache = Cache() if use_cache and cache is None else cache
        past = 0 if cache is None else cache.past
        mask = to_bool_mask("attention_mask", attention_mask, (ids.size(0), past + ids.size(1)))
        memory, memory_mask = encoder_hidden_states, None
        if memory is not None:
            check_rows(ids, memory)
            memory_mask = to_bool_mask("encoder_attention_mask", encoder_attention_mask, memory.shape[:2])
        x = self.decode(ids, memory, mask, memory_mask, cache)
        logits = self.score(x)
        loss = None if labels is None else cross_entropy(logits, labels)
        return Output(loss=loss, logits=logits, last_hidden_state=x, cache=cache)
