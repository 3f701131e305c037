"""A state instead of a cache: decoding in constant memory, and training in linear time.

Measured: Mamba-2 and GPT-2 of the same width with two layers each and random weights: the bytes that each keeps between
tokens after short and long texts; CPU seconds of a forward pass over short and long texts; and the difference between
the outputs of Mamba-2's parallel, chunked form and those of the recurrence, token by token (the paper's duality).
Bands, for sixteen times the length: Mamba-2 keeps the same amount and takes at most 1.3 times sixteen times the
seconds, GPT-2 keeps sixteen times as much and takes at least 1.5 times sixteen times the seconds; the two forms differ
by rounding only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

import tfkit
from research import Claim, Measurement, Numbers, cpu_seconds, figure, lengths
from tfkit.nn.state_space import StateCache

CLAIM = Claim(
    title="A state-space model decodes with a state of fixed size, and computes the same in parallel in linear time",
    paper="Dao and Gu 2024, arXiv:2405.21060, sections 3, 6 and 8",
    alt="Left: bytes kept between tokens against length, level for Mamba-2, rising for GPT-2. Right: seconds of a "
    "forward pass, Mamba-2's rising linearly with the length, GPT-2's faster",
)
NAMES = {"mamba2": ("Mamba-2", "tab:blue"), "gpt2": ("GPT-2", "tab:orange")}


@dataclass(frozen=True)
class Size:
    lengths: tuple[int, ...]
    width: int = 32
    turns: int = 3
    stepwise: int = 64  # tokens in the comparison with the recurrence


SCALES = {
    "tiny": Size(lengths=(8, 16), width=16, turns=1, stepwise=4),
    "small": Size(lengths=(256, 1024, 4096)),
    "full": Size(lengths=(1024, 4096, 16384), width=256),
}


def models(size: Size) -> dict[str, nn.Module]:
    """Two layers each, no dropout."""
    common: dict[str, Any] = dict(head="causal_lm", vocab_size=64, d_model=size.width, n_layers=2, n_heads=4)
    quiet: dict[str, Any] = dict(dropout=0.0, embed_dropout=0.0, attn_dropout=0.0, max_length=max(size.lengths))
    small: dict[str, Any] = dict(d_head=size.width // 2, d_state=16, n_groups=1, chunk=64)
    return {
        "mamba2": tfkit.from_config("mamba2", **small, **common),
        "gpt2": tfkit.from_config("gpt2", **quiet, **common),
    }


@torch.no_grad()
def run(seed: int, size: Size) -> Numbers:
    """Bytes kept and seconds by length, by model, and the distance between the two forms of Mamba-2."""
    torch.manual_seed(seed)
    numbers: Numbers = {"lengths": list(size.lengths)}
    for name, model in models(size).items():
        texts = [torch.randint(64, (1, length)) for length in size.lengths]
        kept = [kept_bytes(model.eval()(input_ids=ids, use_cache=True).cache) for ids in texts]
        seconds = [cpu_seconds(partial(model, input_ids=ids), size.turns) for ids in texts]
        numbers[name] = {"kept": kept, "seconds": seconds}
        if name == "mamba2":
            numbers["apart"] = two_forms(model, texts[0][:, : size.stepwise])
    return numbers


def kept_bytes(cache: Any) -> int:
    """The bytes of a cache without room for positions to come: the states of Mamba-2, or keys and values."""
    if isinstance(cache, StateCache):
        parts = [part for states in cache.states.values() for part in states]
    else:
        parts = [part[:, :, : cache.length] for one in cache.self_attention.values() for part in (one.k, one.v)]
    return sum(part.numel() * part.element_size() for part in parts)


def two_forms(model: nn.Module, ids: Tensor) -> float:
    """The largest difference between the logits of one call and those of a call for each token, over the largest."""
    at_once, cache, steps = model(input_ids=ids).logits, None, []
    for token in ids.split(1, dim=1):
        out = model(input_ids=token, cache=cache, use_cache=True)
        cache = out.cache
        steps.append(out.logits)
    return ((at_once - torch.cat(steps, 1)).abs().max() / at_once.abs().max()).item()


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The growth of bytes and seconds from the shortest text to the longest, and the distance between the two forms."""
    longest, shortest = runs[0]["lengths"][-1], runs[0]["lengths"][0]
    ratio = f"{longest:,} tokens over {shortest:,}"
    more = lambda name, what: [run[name][what][-1] / run[name][what][0] for run in runs]
    times = longest / shortest
    return [
        Measurement(f"bytes kept by Mamba-2, {ratio}", more("mamba2", "kept"), 0.99, 1.01, "×"),
        Measurement(f"bytes kept by GPT-2, {ratio}", more("gpt2", "kept"), 0.99 * times, 1.01 * times, "×"),
        Measurement(f"seconds of Mamba-2, {ratio}", more("mamba2", "seconds"), at_most=1.3 * times, unit="×"),
        Measurement(f"seconds of GPT-2, {ratio}", more("gpt2", "seconds"), at_least=1.5 * times, unit="×"),
        Measurement(
            "difference of the two forms, relative to the largest output", [run["apart"] for run in runs], at_most=1e-4
        ),
    ]


def draw(runs: Sequence[Numbers]):
    """Left: bytes kept. Right: seconds. Against length, a line for each model and seed."""
    fig, axes = figure(2)
    for axis, what, label in zip(axes, ("kept", "seconds"), ("bytes kept", "CPU seconds of a pass"), strict=True):
        for name, (shown, colour) in NAMES.items():
            for run in runs:
                legend = shown if run is runs[0] else None
                axis.plot(run["lengths"], run[name][what], "o-", color=colour, alpha=0.7, label=legend)
        lengths(axis, runs[0]["lengths"], label)
    axes[0].legend()
    return fig
