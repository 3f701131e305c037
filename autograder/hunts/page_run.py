"""Runs a page in a box, with inputs and weights that are drawn, and compares what it computes with the right page."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from autograder.api import Limits
from autograder.hunts import page_driver
from autograder.hunts.pages import ModelPage
from autograder.sandbox.base import Backend
from autograder.sandbox.client import SandboxClient, StudentError

UNDER_TEST, RIGHT, DRIVER = "code_under_test", "page_of_tfkit", "page_driver"
PRELUDE = f"from {DRIVER} import observe, train, weights\n"
LIMITS = Limits(call_s=60.0, wall_s=300.0)
CLOSE = 1e-6  # relative to the largest entry; pages compute in float64
NEW = 4  # tokens that are written
CASES = (0, 1, 2)  # seeds of inputs and weights
FIRST_ID = 6  # smaller ones have meanings, such as padding
SENTENCES = 3


@dataclass(frozen=True)
class PageCase:
    """Weights and inputs, and from what the page goes on, if it writes."""

    size: dict[str, Any]
    state: dict[str, Tensor]
    given: dict[str, Any]
    prompt: dict[str, Any]


@dataclass(frozen=True)
class PageResult:
    """What a page computes. `layers`: the outputs of its parts in the order in which they ran, with their names."""

    layers: tuple[tuple[str, Tensor], ...]
    output: Tensor
    again: Tensor  # the output of a second run
    gradients: dict[str, Tensor]
    written: Tensor | None


class PageBox:
    """A box with the right page or one that is handed in; of our own pages several may be run in one."""

    def __init__(self, page: ModelPage, backend: Backend) -> None:
        self.page, self._client = page, SandboxClient(backend, LIMITS)

    def __enter__(self) -> PageBox:
        self._client.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._client.__exit__(*error)

    def add(self, modules: Mapping[str, str]) -> None:
        """Make pages importable. Raises StudentError."""
        self._client.inject({DRIVER: inspect.getsource(page_driver), **modules})
        self._client.bind(PRELUDE, ["observe", "train", "weights"])

    def case(self, seed: int) -> PageCase:
        """Inputs of this seed, and weights in the layout of the right page, which is in this box as RIGHT."""
        state = self._client.call("weights", RIGHT, self.page.size, seed)
        given = inputs(self.page, seed)
        prompt = {name: given[name] for name in self.page.parameters("generate")}
        if "input_ids" in prompt and "attention_mask" not in prompt:  # prompts without padding
            prompt["input_ids"] = ids(self.page, SENTENCES, 4, seed)
        reads = {name: given[name] for name in self.page.parameters("forward") if name in given}
        return PageCase(self.page.size, state, reads, prompt)

    def observe(self, module: str, case: PageCase) -> PageResult:
        """What the page of this name computes. Raises StudentError."""
        found = self._client.call("observe", module, case.size, case.state, case.given, case.prompt)
        try:
            names, layers, gradients = list(found["names"]), found["layers"], dict(found["gradients"])
            if not all(isinstance(name, str) for name in (*names, *gradients)):
                raise ValueError("no names")
            of_parts = tuple(zip(names, layers, strict=True))
            return PageResult(of_parts, found["output"], found["again"], gradients, found["written"])
        except (KeyError, TypeError, ValueError, IndexError):
            raise StudentError("protocol", "the page gave no outputs that can be read") from None

    def train(self, module: str, size: dict[str, Any], text: Tensor, steps: int, length: int, start: Tensor,
              count: int) -> tuple[list[float], Tensor]:  # fmt: skip
        """The losses of a page that learns a text, and how it goes on. Raises StudentError."""
        found = self._client.call("train", module, size, text, steps, length, start, count)
        return found["losses"], found["written"]


def ids(page: ModelPage, rows: int, length: int, seed: int) -> Tensor:
    """Random tokens [rows,length]."""
    size = page.size.get("generator", page.size)
    draw = torch.Generator().manual_seed(seed)
    return torch.randint(FIRST_ID, size.get("vocab_size", 41), (rows, length), generator=draw)


def inputs(page: ModelPage, seed: int) -> dict[str, Any]:
    """All that any page may read: sentences of unequal length, padded on the right."""
    size, length = page.size, page.length
    draw = torch.Generator().manual_seed(100 + seed)

    def noise(*shape: int) -> Tensor:
        return torch.randn(shape, generator=draw, dtype=torch.float64)

    pad = size.get("pad_token_id", 0)
    mask = torch.arange(length) < torch.tensor([length, length - 4, length - 2])[:, None]
    order = torch.randperm(length, generator=draw)
    rank = order.argsort()
    return {
        "input_ids": ids(page, SENTENCES, length, seed).masked_fill(~mask, pad),
        "attention_mask": mask.long(),
        "token_type_ids": (torch.arange(length) > 2).long().expand(SENTENCES, -1),
        "decoder_input_ids": ids(page, SENTENCES, 5, seed + 50),
        "langs": (torch.arange(length) % 2).expand(SENTENCES, -1),
        "global_attention_mask": torch.isin(torch.arange(length), torch.tensor([0, 6])).long().expand(SENTENCES, -1),
        "pixel_values": noise(SENTENCES, 3, 6, 6),
        "input_features": noise(SENTENCES, 5, 48),
        "input_modal": noise(SENTENCES, 3, 5),
        "modal_start_tokens": torch.full((SENTENCES,), 4),
        "modal_end_tokens": torch.full((SENTENCES,), 5),
        "perm_mask": (rank[:, None] <= rank[None, :]).long().expand(SENTENCES, -1, -1),
        "target_mapping": torch.nn.functional.one_hot(order[-3:], length).expand(SENTENCES, -1, -1),
        "index": (noise(7, 16), ids(page, 7, 4, seed + 60)),
        "language_id": 7,
        "max_new_tokens": NEW,
    }


def is_close(value: Any, right: Tensor) -> bool:
    """Whether a tensor is the right one, but for rounding."""
    return difference(value, right) <= CLOSE


def difference(value: Any, right: Tensor) -> float:
    """The largest difference of two tensors, relative to the largest right entry; infinite where shapes differ."""
    if not isinstance(value, Tensor) or value.shape != right.shape or value.is_complex() != right.is_complex():
        return float("inf")
    if not right.numel():
        return 0.0
    value, expected = value.double(), right.double()
    same = (value == expected) | (value.isnan() & expected.isnan())
    gap = torch.where(same, 0.0, (value - expected).abs()).nan_to_num(float("inf"), float("inf"))
    finite = expected.abs()[expected.isfinite()]
    return float(gap.max()) / max(float(finite.max()) if finite.numel() else 0.0, 1e-3)


def differences(seen: PageResult, right: PageResult) -> Iterator[tuple[str, float]]:
    """For each part that ran in the right page, how far its output is from the right one there; the output last."""
    found: dict[tuple[str, int], Tensor] = dict(_numbered(seen))
    for (name, call), value in _numbered(right):
        yield name if not call else f"{name} ({call + 1})", difference(found.get((name, call)), value)
    yield "output", difference(seen.output, right.output)


def _numbered(seen: PageResult) -> Iterator[tuple[tuple[str, int], Tensor]]:
    count: dict[str, int] = {}
    for name, value in seen.layers:
        yield (name, count.get(name, 0)), value
        count[name] = count.get(name, 0) + 1


def differing_aspects(seen: PageResult, right: PageResult) -> tuple[str, ...]:
    """In what a page differs from the right one: output, evaluation (two runs differ), gradients, writing."""
    wrong = {
        "output": not is_close(seen.output, right.output),
        "evaluation": not is_close(seen.again, seen.output) if isinstance(seen.output, Tensor) else True,
        "gradients": any(not is_close(seen.gradients.get(name), one) for name, one in right.gradients.items()),
        "writing": right.written is not None and not _same(seen.written, right.written),
    }
    return tuple(name for name, holds in wrong.items() if holds)


def _same(one: Any, other: Tensor) -> bool:
    return isinstance(one, Tensor) and torch.equal(one, other)
