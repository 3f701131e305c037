"""Traces the cache of a decoder: its size at each step, and the bytes that reordering the beam copied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor

from tfkit.decode.decoders import Decoder
from tfkit.decode.search import GenerationRequest, Step, Strategy
from tfkit.nn import Cache


class CacheTracingStrategy:
    """A strategy whose decoder is traced: `states` gets the cache's state at each Step, None if there is no cache of
    keys and values."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy, self.states = strategy, list[dict[str, Any] | None]()

    @property
    def name(self) -> str:
        """The wrapped strategy's name."""
        return self.strategy.name

    @property
    def width(self) -> int:
        """The wrapped strategy's width."""
        return self.strategy.width

    def score(self, total: float, generated: int) -> float:
        """The wrapped strategy's score."""
        return self.strategy.score(total, generated)

    def run(self, request: GenerationRequest) -> Tensor:
        """The wrapped strategy's ids, unchanged; `states` grows by one entry per step."""
        decoders: list[CacheTracingDecoder] = []

        def wrap_decoder(decoder: Decoder) -> Decoder:
            """Steps are reported with the state of the latest decoder. The decoder of a draft model is not wrapped."""
            decoders.append(CacheTracingDecoder(decoder))
            return decoders[-1]

        def on_step(step: Step) -> None:
            """Passes the step on to the caller's own `on_step`."""
            self.states.append(decoders[-1].last if decoders else None)
            if request.on_step:
                request.on_step(step)

        return self.strategy.run(replace(request, wrap_decoder=wrap_decoder, on_step=on_step))


class CacheTracingDecoder:
    """A decoder that keeps, after each call, the state of its cache."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.hidden: Tensor | None = None
        self.last: dict[str, Any] | None = None

    def start(self, ids: Tensor) -> Tensor:
        """As the decoder's; filling the cache with the prompt counts as no copy."""
        out = self.decoder.start(ids)
        self.last = self.state(len(ids), None, 0, 0)
        return out

    def advance(self, index: Tensor | None, token: Tensor, prefix_length: int = 0) -> Tensor:
        """As the decoder's; the bytes that the reorder will copy are counted first: all, if the number of rows
        changes."""
        same = index is not None and len(index) == getattr(self.decoder, "rows", -1)
        cost = 0 if index is None else copied_bytes(self.cache, len(index), prefix_length if same else 0)
        out = self.decoder.advance(index, token, prefix_length)
        self.last = self.state(len(token), index, prefix_length if same else 0, cost)
        return out

    def extend(self, tokens: Tensor) -> Tensor:
        """As the decoder's; it copies nothing."""
        out = self.decoder.extend(tokens)
        self.last = self.state(len(tokens), None, 0, 0)
        return out

    def rewind(self, count: int) -> None:
        """As the decoder's; `last` still describes the longer text."""
        self.decoder.rewind(count)

    @property
    def cache(self) -> object:
        """The decoder's cache, or None."""
        return getattr(self.decoder, "cache", None)

    def state(self, rows: int, index: Tensor | None, prefix_length: int, cost: int) -> dict[str, Any] | None:
        """The contents of the cache after a call; the decoder's latest hidden states become this decoder's `hidden`."""
        self.hidden = self.decoder.hidden
        if not isinstance(self.cache, Cache):
            return None
        return {
            "rows": rows,
            "length": self.cache.length,
            "used": [2 * key_bytes(buffer, buffer.length) for buffer in self.cache.self_attention.values()],
            "room": sum(2 * key_bytes(buffer, buffer.k.size(2)) for buffer in self.cache.self_attention.values()),
            "memory": sum(k.nbytes + v.nbytes for k, v in self.cache.cross_attention.values()),
            "from": None if index is None else index.tolist(),
            "since": prefix_length,
            "copied": cost,
        }


def key_bytes(buffer: Any, positions: int) -> int:
    """Bytes of the keys at `positions` positions, in all rows."""
    return int(buffer.k[:, :, :1].nbytes) * positions


def copied_bytes(cache: Any, rows: int, prefix_length: int) -> int:
    """Bytes that a reorder to `rows` rows writes: everything for prefix_length 0, else the positions from there on."""
    if not isinstance(cache, Cache):
        return 0
    buffers = cache.self_attention.values()
    copied = sum(2 * key_bytes(buffer, buffer.length - prefix_length) * rows // len(buffer.k) for buffer in buffers)
    memory = sum((k.nbytes + v.nbytes) * rows // len(k) for k, v in cache.cross_attention.values())
    return copied + (0 if prefix_length else memory)
