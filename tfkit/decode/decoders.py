"""Decoders turn token ids into the logits of the next token: one interface over tfkit's models, which keep a cache,
hand-built encoder-decoders, and bare step functions. `decoder_for` chooses.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cached_property
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from tfkit.decode.compiled import Backend, round_up_capacity, run_step
from tfkit.decode.cuda_graph import CUDAGraphStep
from tfkit.nn.onednn import decodes_faster_without_onednn, without_onednn


class Decoder(Protocol):
    """hidden [N,t,E]: the hidden states behind the last call's logits, or None if the model does not return them."""

    hidden: Tensor | None

    def start(self, ids: Tensor) -> Tensor:
        """ids [B,t], the prompt -> logits [B,V] of what follows."""

    def advance(self, index: Tensor | None, token: Tensor, prefix_length: int = 0) -> Tensor:
        """Continue rows `index` [N] of the last call (None: all, in order) with `token` [N] -> logits [N,V].

        Rows of one sentence stay together, in the order of the sentences. prefix_length: if the number of rows does not
        change, the first column in which a row may differ from the one that it replaces."""

    def extend(self, tokens: Tensor) -> Tensor:
        """Continue with several tokens at once, [N,t] -> logits [N,t,V] after each of them."""

    def rewind(self, count: int) -> None:
        """Forget the last `count` tokens."""


def is_tfkit_model(model: Any) -> bool:
    """Whether this is a tfkit model, with a configuration and a head; otherwise a hand-built one, or a step
    function."""
    return hasattr(model, "config") and hasattr(model, "head")


def is_causal(model: Any) -> bool:
    """Whether this is a decoder-only model, whose source is the prompt."""
    return is_tfkit_model(model) and (
        model.head == "causal_lm" or predicts_next_from_full_text(model) or not hasattr(model, "encode")
    )


def predicts_next_from_full_text(model: Any) -> bool:
    """Whether the model itself predicts the token after a whole text, with `next_token_logits`."""
    return hasattr(model, "next_token_logits") and model.head == "masked_lm"


def reads_features(model: Any) -> bool:
    """Whether its source is not ids but features such as audio, which it checks itself: see `tfkit.models._base`."""
    return hasattr(model, "check_source") and not is_causal(model)


def source_of(model: Any) -> str:
    """The kind of input that an encoder reads, for error messages."""
    return "input_features" if reads_features(model) else "ids [B,S]"


def require_lm_head(model: Any) -> None:
    """Raises TypeError for an object that is not a model, and for a tfkit model without a language model head."""
    if not (callable(model) or hasattr(model, "step") or hasattr(model, "decode")):
        raise TypeError(f"model is of type {type(model).__name__}: give a model of tfkit, or one with step or decode")
    if (
        is_tfkit_model(model)
        and model.head not in ("causal_lm", "seq2seq_lm", "rag_token")
        and not predicts_next_from_full_text(model)
    ):
        raise TypeError(f"{type(model).__name__} with head={model.head!r} predicts no next token: give it a LM head")


def cross_attention_inputs(model: Any, given: dict[str, Any]) -> dict[str, Tensor]:
    """Takes out of `given` the inputs for the cross-attention of a decoder-only model: encoder_hidden_states [B,S,E]
    and their mask. Raises TypeError for a model that has an encoder of its own, or no cross-attention."""
    names = ("encoder_hidden_states", "encoder_attention_mask")
    found = {name: given.pop(name) for name in names if name in given}
    if found and not (is_causal(model) and (hasattr(model, "alone") or names[0] in forward_arguments(type(model)))):
        raise TypeError(f"{min(found)}: {type(model).__name__} is not a decoder with cross-attention")
    return {name: tensor for name, tensor in found.items() if tensor is not None}


def decoder_for(
    model: Any,
    source: Tensor | None,
    mask: Tensor | None = None,
    capacity: int = 0,
    static: bool = False,
    backend: Backend | None = None,
    cross_attention_inputs: Mapping[str, Tensor] | None = None,
) -> Decoder:
    """The decoder for `model`. source: ids with their mask, or features; mask: for a decoder-only model, that of
    the prompts; capacity, static, backend: as in `ModelDecoder`; cross_attention_inputs: what the function of
    that name returned.

    Raises TypeError for an object that is neither a model nor a function, or that lacks its input or its head;
    ValueError if a backend is given and the model's steps cannot be compiled.
    """
    require_lm_head(model)
    if backend is not None and not is_tfkit_model(model):
        raise ValueError("compile: only tfkit's models have the cache of fixed size that a compiled step needs")
    if predicts_next_from_full_text(model) and not static and backend is None:
        return TextDecoder(model, mask)
    if is_causal(model):
        return CausalDecoder(model, mask, capacity, static, backend, cross_attention_inputs)
    if hasattr(model, "encode"):
        if source is None:
            raise TypeError(f"{type(model).__name__} reads a source: give its {source_of(model)}")
        is_tfkit = is_tfkit_model(model)
        if is_tfkit:
            return Seq2SeqDecoder(model, source, mask, capacity, static, backend)
        return PlainDecoder(model, source)
    if callable(model) and not isinstance(model, torch.nn.Module):
        return StepDecoder(model)
    raise TypeError(
        f"cannot decode with {type(model).__name__}: give a model with encode() and decode(), or a function "
        "step(prefix_ids[N,t]) -> logits[N,V]"
    )


class ModelDecoder(ABC):
    """The common part of the decoders for tfkit models, with and without an encoder.

    capacity: the largest number of positions; static: whether the cache has that fixed size from the start; backend: of
    torch.compile, for every step after the prompt, which needs a static cache. Raises ValueError if a static cache is
    asked for and the model has no cache, or one without a size.
    """

    hidden: Tensor | None = None

    def __init__(self, model: Any, capacity: int, static: bool, backend: Backend | None = None) -> None:
        self.forward_args = forward_arguments(type(model))
        self.model, self.backend, self.has_cache = model, backend, "cache" in self.forward_args
        self.capacity = capacity if backend is None else round_up_capacity(capacity)
        if static or backend is not None:
            require_static_cache(model, self.has_cache)
        self.rows, self.length, self.is_static = 0, 0, static or backend is not None
        self.captured: dict[int, CUDAGraphStep] | None = {} if backend is None or model.prepare_steps() else None
        self.cache: Any = None
        self.ids = torch.empty(0, 0, dtype=torch.int64)  # the whole text, for models that may read it again
        # the length beyond which the model reads all positions otherwise, cached ones too; and whether it has done so
        self.border: int | None = getattr(model, "rotations_change_after", None)
        self.is_beyond = False

    @cached_property
    def faster_without_onednn(self) -> bool:
        """Whether steps of a single row are; looked at once, when there is such a step."""
        return isinstance(self.model, torch.nn.Module) and decodes_faster_without_onednn(self.model)

    @property
    def keeps_ids(self) -> bool:
        """Whether the whole text is kept, because the model may have to read it again."""
        return not self.has_cache or self.border is not None

    @abstractmethod
    def inputs(self, ids: Tensor, past: int) -> dict[str, Any]:
        """The model's arguments for ids [N,t] that follow `past` earlier ones."""

    def repeat(self, index: Tensor) -> None:  # noqa: B027 (without tensors per sentence there is nothing to repeat)
        """Repeats per-sentence tensors so that row i belongs to sentence `index[i]`."""

    def start(self, ids: Tensor) -> Tensor:
        """ids [B,t] -> logits [B,V]; models that can compute the logits of the last position alone do so"""
        self.rows, self.ids = len(ids), ids[:, :0]
        # all logits of a long prompt would take much memory
        last = {"logits_to_keep": 1} if "logits_to_keep" in self.forward_args else {}
        return self.extend(ids, **last)[:, -1]

    def advance(self, index: Tensor | None, token: Tensor, prefix_length: int = 0) -> Tensor:
        """index [N] or None, token [N] -> logits [N,V]; a model without a cache reads the whole text again."""
        if index is not None:
            self.reorder(index, prefix_length)
        return self.extend(token.unsqueeze(1))[:, -1]

    def extend(self, tokens: Tensor, **how: Any) -> Tensor:
        """tokens [N,t] -> logits [N,t,V]; `how` is passed to the model's forward, if it has a cache."""
        inside = 0 if self.border is None else self.border - self.length
        if self.length and 0 < inside < tokens.size(1):
            return self.extend_in_two_parts(tokens, inside, **how)
        past, self.length = self.length, self.length + tokens.size(1)
        if self.keeps_ids:
            self.ids = torch.cat([self.ids, tokens], 1)
        if self.has_to_restart(past):
            return self.restart(tokens.size(1))
        logits: Tensor
        if self.compiles(past):
            assert self.backend is not None
            inputs = self.inputs(tokens, past)
            logits, self.hidden = run_step(self.model, self.backend, inputs, self.cache, tokens.size(1), self.captured)
            return logits
        if self.has_cache:
            with without_onednn() if tokens.numel() == 1 and self.faster_without_onednn else nullcontext():
                out = self.model(**self.inputs(tokens, past), cache=self.cache, use_cache=True, **how)
            self.cache, self.hidden = out.cache, out.last_hidden_state
            logits = out.logits
            return logits
        out = self.model(**self.inputs(self.ids, 0))
        self.hidden = None if out.last_hidden_state is None else out.last_hidden_state[:, past:]
        logits = out.logits
        return logits[:, past:]

    def extend_in_two_parts(self, tokens: Tensor, inside: int, **how: Any) -> Tensor:
        """`extend` for tokens [N,t], of which the first `inside` are within the border and the others beyond it."""
        logits, states = [], []
        for part in tokens.split([inside, tokens.size(1) - inside], 1):
            logits.append(self.extend(part, **how))
            states.append(self.hidden)
        self.hidden = torch.cat([state for state in states if state is not None], 1) if None not in states else None
        return torch.cat(logits, 1)

    def has_to_restart(self, past: int) -> bool:
        """Whether the cache, which holds `past` positions, was filled on the other side of the border."""
        was, self.is_beyond = self.is_beyond, self.border is not None and self.length > self.border
        return self.has_cache and past > 0 and was != self.is_beyond

    def restart(self, new: int) -> Tensor:
        """Reads the whole text into an empty cache -> logits [N,new,V] of its last `new` tokens"""
        self.cache = self.empty_cache()
        self.captured = None if self.captured is None else {}  # CUDA graphs hold the addresses of the cache before
        last = {"logits_to_keep": new} if "logits_to_keep" in self.forward_args else {}
        out = self.model(**self.inputs(self.ids, 0), cache=self.cache, use_cache=True, **last)
        self.cache, self.hidden = out.cache, out.last_hidden_state[:, -new:]
        logits: Tensor = out.logits[:, -new:]
        return logits

    def empty_cache(self) -> Any:
        """A cache of fixed size if one was asked for; None: the model makes one that grows."""
        return self.model.fixed_cache(self.capacity, None) if self.is_static else None

    def compiles(self, past: int) -> bool:
        """Whether the next step runs as a graph: neither the prompt nor a step past the model's last position does, so
        that the model itself reports the latter."""
        if self.backend is None or past == 0:
            return False
        last = getattr(self.model, "last_position", None)
        return last is None or self.length <= last

    def reorder(self, index: Tensor, prefix_length: int) -> None:
        """Reorders the cache to rows `index` [N]; the first `prefix_length` columns are the same and need not be
        copied."""
        if len(index) != self.rows:
            self.rows = len(index)
            self.repeat(index)
            prefix_length = 0
        if self.keeps_ids:
            self.ids = self.ids[index]
        if not self.has_cache:
            return
        if prefix_length and hasattr(self.cache, "reorder_from"):
            self.cache.reorder_from(index, prefix_length)
        else:
            self.cache.reorder(index)

    def rewind(self, count: int) -> None:
        """Raises TypeError if the model's state cannot be cut back, such as a recurrent one."""
        self.length -= count
        if self.keeps_ids:
            self.ids = self.ids[:, : self.length]
        if not self.has_cache:
            return
        if hasattr(self.cache, "crop"):
            self.cache.crop(self.length)
        else:
            raise TypeError(f"{type(self.model).__name__} keeps a state that cannot forget its last {count} tokens")


def require_static_cache(model: Any, cached: bool) -> None:
    """Raises ValueError for a model whose steps cannot be given equal shapes by a cache of fixed size."""
    name = type(model).__name__
    if not cached:
        raise ValueError(f"{name} has no cache, so not a static one either; without one no step can be compiled")


def forward_arguments(kind: type) -> set[str]:
    """The names of the arguments of a model's forward: its own, and those that it passes on to its parent's forward or
    to functions listed in its attribute `passes_to`."""
    known: set[str] = set()
    for parent in kind.__mro__:
        if "forward" in vars(parent):
            forward = vars(parent)["forward"]
            found = inspect.signature(forward).parameters
            known |= set(found)
            known.update(*(inspect.signature(function).parameters for function in getattr(forward, "passes_to", ())))
            if not any(one.kind is one.VAR_KEYWORD for one in found.values()):
                break
    return known


class CausalDecoder(ModelDecoder):
    """A decoder-only model. mask bool [B,t]: prompts of unequal length are padded on the left, and their positions
    count from the first token; None: no padding. cross_attention_inputs: encoder_hidden_states
    [B,S,E] and encoder_attention_mask [B,S], by name."""

    def __init__(
        self, model: Any, mask: Tensor | None, capacity: int, static: bool, backend: Backend | None = None,
        cross_attention_inputs: Mapping[str, Tensor] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(model, capacity, static, backend)
        self.cross_attention_inputs = dict(cross_attention_inputs or {})
        self.mask = self.positions = None
        if mask is not None:
            self.mask = F.pad(mask, (0, self.capacity - mask.size(1)), value=True)  # bool [B,capacity]
            self.positions = (self.mask.cumsum(1) - 1).clamp(min=0)
            if self.border is not None:  # positions count from the first token: padding that all rows have does not
                self.border += int((~mask).sum(1).min())
        self.cache = self.empty_cache()

    def empty_cache(self) -> Any:
        """As the parent's; a cache of fixed size applies the mask itself."""
        return self.model.fixed_cache(self.capacity, self.mask) if self.is_static else None

    def needs_mask(self, past: int) -> bool:
        """Whether the model must be given the prompts' mask: not if the cache applies it, nor after the prompt if the
        cache holds nothing that padding has changed."""
        if self.mask is None or getattr(self.cache, "non_padding", None) is not None:
            return False
        return not (past and getattr(self.model, "MASKS_PROMPT_ONLY", False))

    def inputs(self, ids: Tensor, past: int) -> dict[str, Any]:
        """mask [N,past+t] covers all that was read, positions [N,t] the new ids; neither is given if there is no
        padding; the mask only if the model needs it"""
        given: dict[str, Any] = {"input_ids": ids, **self.cross_attention_inputs}
        end = past + ids.size(1)
        if self.needs_mask(past):
            assert self.mask is not None
            given["attention_mask"] = self.mask[:, :end]
        if self.positions is not None and "position_ids" in self.forward_args:
            given["position_ids"] = self.positions[:, past:end]
        return given

    def repeat(self, index: Tensor) -> None:
        """Masks and positions of the prompts follow their rows, and so do the inputs of the cross-attention."""
        self.cross_attention_inputs = {name: tensor[index] for name, tensor in self.cross_attention_inputs.items()}
        if self.mask is not None and self.positions is not None:
            self.mask, self.positions = self.mask[index], self.positions[index]


class Seq2SeqDecoder(ModelDecoder):
    """An encoder-decoder: the source is encoded once. mask bool [B,S], of ids; None: it is derived from the padding id.
    Features have no mask."""

    def __init__(
        self,
        model: Any,
        source: Tensor,
        mask: Tensor | None,
        capacity: int,
        static: bool,
        backend: Backend | None = None,
    ) -> None:
        super().__init__(model, capacity, static, backend)
        if reads_features(model):
            mask = None
        else:
            mask = source != model.config.pad_token_id if mask is None else mask
            mask = None if bool(mask.all()) else mask  # without one, attention is faster
        self.mask, self.encoder_outputs = mask, model.encode(source, mask)
        self.cache = self.empty_cache()

    def inputs(self, ids: Tensor, past: int) -> dict[str, Any]:
        """The source is passed in encoded; the model counts the positions itself, so `past` is not needed."""
        return {"attention_mask": self.mask, "decoder_input_ids": ids, "encoder_outputs": self.encoder_outputs}

    def repeat(self, index: Tensor) -> None:
        """The encoded source is copied for each row; it is not encoded again."""
        self.encoder_outputs = self.encoder_outputs.rows(index)
        self.mask = None if self.mask is None else self.mask[index]


class StepDecoder:
    """A function `step(prefix [N,t]) -> logits [N,V]`, which reads the whole prefix each time."""

    hidden: Tensor | None = None

    def __init__(self, step: Callable[[Tensor], Tensor]) -> None:
        self.step = step
        self.ids = torch.empty(0, 0, dtype=torch.int64)

    def start(self, ids: Tensor) -> Tensor:
        """ids [B,t] -> logits [B,V]"""
        self.ids = ids
        return self.step(ids)

    def advance(self, index: Tensor | None, token: Tensor, prefix_length: int = 0) -> Tensor:
        """token [N] -> logits [N,V]; `prefix_length` is of no use here: the whole prefix is read again"""
        before = self.ids if index is None else self.ids[index]
        self.ids = torch.cat([before, token.unsqueeze(1)], dim=1)
        return self.step(self.ids)

    def extend(self, tokens: Tensor) -> Tensor:
        """tokens [N,t] -> logits [N,t,V], by t calls of the function"""
        return torch.stack([self.advance(None, token) for token in tokens.unbind(1)], dim=1)

    def rewind(self, count: int) -> None:
        """Cuts the prefix, which is all that is kept."""
        self.ids = self.ids[:, : self.ids.size(1) - count]


class PlainDecoder(StepDecoder):
    """A model with `encode(src) -> memory [B,S,E]` and `decode(tgt_in, memory, src) -> logits`, without a cache."""

    def __init__(self, model: Any, src: Tensor) -> None:
        super().__init__(self.last)
        self.model, self.src, self.memory = model, src, model.encode(src)

    def last(self, prefix: Tensor) -> Tensor:
        """prefix [N,T] -> logits [N,V] of the next token"""
        logits: Tensor = self.model.decode(prefix, self.memory, self.src)
        return logits[:, -1]

    def advance(self, index: Tensor | None, token: Tensor, prefix_length: int = 0) -> Tensor:
        """As the parent's; the source and its memory are repeated if the number of rows changes."""
        if index is not None and len(index) != len(self.src):  # rows of one sentence share the same
            self.src, self.memory = self.src[index], self.memory[index]  # memory, so only their number matters
        return super().advance(index, token)


class TextDecoder(StepDecoder):
    """A tfkit model that predicts the token after a whole text, `next_token_logits(ids, mask) -> logits`, and has no
    cache.

    mask bool [B,t]: for prompts that are padded on the left, or None."""

    def __init__(self, model: Any, mask: Tensor | None) -> None:
        super().__init__(self.last)
        self.model, self.mask = model, mask

    def last(self, prefix: Tensor) -> Tensor:
        """prefix [N,T] -> logits [N,V] of the next token"""
        logits: Tensor = self.model.next_token_logits(prefix, self.mask)
        return logits

    def advance(self, index: Tensor | None, token: Tensor, prefix_length: int = 0) -> Tensor:
        """As the parent's; the mask follows the rows, and the new token is not padding."""
        if self.mask is not None:
            self.mask = F.pad(self.mask if index is None else self.mask[index], (0, 1), value=True)
        return super().advance(index, token)

    def rewind(self, count: int) -> None:
        """The mask is cut with the prefix."""
        super().rewind(count)
        self.mask = None if self.mask is None else self.mask[:, : self.ids.size(1)]
