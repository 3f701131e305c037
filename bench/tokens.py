"""A token of greedy decoding at published sizes against the reading of its weights, which it cannot do without.

    OMP_NUM_THREADS=1 python -m bench.tokens smollm2-135m gpt2 --compile

One row on one CPU: each step reads every weight of the decoder once and computes little with it. The time of reading is
that of adding up the bytes of all weights that a step needs as float32 numbers, once for each dtype. Weights are
random; times are CPU milliseconds, the best of several turns, in which all columns take part one after the other. With
--compile there are two compiled columns, of which "inductor alone" has PyTorch's own products. Where xllamacpp is
installed, llama.cpp takes part; its Q8_0 rounds the activations to int8 as well, which is other work than tfkit's int8.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import tfkit
from bench import llama_cpp
from bench.gpu_cases import is_read
from bench.models import pair
from bench.rows import PUBLISHED, BenchmarkRow
from tfkit.nn.int8 import Int8Weight

SMOLLM2 = {
    "vocab_size": 49152, "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9,
    "num_key_value_heads": 3, "intermediate_size": 1536, "max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
    "tie_word_embeddings": True,
}  # fmt: skip
SIZES = [
    BenchmarkRow("smollm2-135m", "LlamaConfig", "LlamaForCausalLM", SMOLLM2, generates=True),
    *(row for row in PUBLISHED if row.generates),
]
PROMPT = 32


def cpu_seconds(run: Callable[[], Any]) -> float:
    """The CPU time of this process for one run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def tfkit_decoder(model: Any, ids: Tensor, compile: bool | str = False) -> Callable[[int], Any]:
    """-> a function that decodes so many tokens"""
    how = {"attention_mask": torch.ones_like(ids), "end_id": -1, "compile": compile}
    return lambda new: tfkit.generate(model, ids, max_new_tokens=new, **how)


def transformers_decoder(model: Any, ids: Tensor) -> Callable[[int], Any]:
    """-> a function that decodes so many tokens"""
    how: dict[str, Any] = {"do_sample": False, "use_cache": True, "pad_token_id": 0, "eos_token_id": None}
    mask = torch.ones_like(ids)
    return lambda new: model.generate(ids, attention_mask=mask, max_new_tokens=new, min_new_tokens=new, **how)


def reader(model: Any) -> Callable[[], Any]:
    """-> a function that reads all weights of a step once"""
    weights: list[Tensor] = []
    for name, weight in model.named_parameters():
        if is_read(model, name, weight):
            own = weight.detach()
            weights += [own.q, own.scale] if isinstance(own, Int8Weight) else [own]
    numbers = [(t if t.is_contiguous() else t.t().contiguous()).flatten() for t in weights]
    numbers = [t.view(torch.float32) if t.numel() * t.element_size() % 4 == 0 else t for t in numbers]
    return lambda: [t.sum() for t in numbers]


def dtype_of(column: str) -> str:
    """The dtype of the weights of a column."""
    found = {"BF16": "bfloat16", "bfloat16": "bfloat16", "Q8_0": "int8", "int8": "int8"}
    return next((dtype for word, dtype in found.items() if word in column), "float32")


def columns(row: BenchmarkRow, compile: bool) -> tuple[dict[str, Callable[[], Any]], dict[str, Callable[[int], Any]]]:
    """Reading the weights once, by dtype, and what is timed, by name."""
    with tempfile.TemporaryDirectory() as directory:
        published, model = pair(row, directory, "cpu")
        rounded = {
            dtype: tfkit.from_pretrained(directory, dtype=dtype).eval() for dtype in ("bfloat16", "int8")
        }  # before the folder goes
    ids = torch.randint(3, model.config.vocab_size, (1, PROMPT), generator=torch.Generator().manual_seed(0))
    models = {"float32": model, **rounded}
    timed = {"transformers": transformers_decoder(published, ids)}
    for dtype, own in models.items():
        timed[f"tfkit, {dtype}"] = tfkit_decoder(own, ids)
        if compile:
            timed[f"tfkit, {dtype}, compiled"] = tfkit_decoder(own, ids, compile=True)
            timed[f"tfkit, {dtype}, inductor alone"] = tfkit_decoder(own, ids, compile="inductor")
    timed |= llama_cpp.decoders(model, ids)
    return {dtype: reader(own) for dtype, own in models.items()}, timed


def measure(row: BenchmarkRow, turns: int, new: int, compile: bool = False) -> dict[str, float]:
    """Column -> milliseconds: of a token, and of "reading" the weights of each dtype. The prompt's share is taken
    off."""
    readers, timed = columns(row, compile)
    reading = {f"reading, {dtype}": read for dtype, read in readers.items()}
    best = dict.fromkeys((*reading, *timed), float("inf"))
    for read in reading.values():
        read()
    for run in timed.values():
        run(2)
    for _ in range(turns):
        for name, read in reading.items():
            best[name] = min(best[name], 1e3 * cpu_seconds(read))
        for name, run in timed.items():
            took = cpu_seconds(lambda run=run: run(new + 1)) - cpu_seconds(lambda run=run: run(1))  # type: ignore[misc]
            best[name] = min(best[name], 1e3 * took / new)
    return best


def lines(name: str, found: dict[str, float]) -> list[str]:
    """The rows of the table."""
    made = []
    for column, ms in found.items():
        own, float32 = found[f"reading, {dtype_of(column)}"], found["reading, float32"]
        made.append(f"| {name}, {column} | {ms:.1f} | {ms / own:.2f} | {ms / float32:.2f} |")
    return made


def main(arguments: list[str] | None = None) -> int:
    """The command: prints the table, each size as soon as it is measured, and the load of the machine."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m bench.tokens", description=about)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"sizes: {', '.join(row.name for row in SIZES)}")
    parser.add_argument(
        "--turns",
        type=int,
        default=4,
        help="measurements of each side, of which the best counts (default: %(default)s)",
    )
    parser.add_argument("--tokens", type=int, default=12, help="tokens of each measurement (default: %(default)s)")
    parser.add_argument("--compile", action="store_true", help="also with compiled steps")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - {row.name for row in SIZES}:
        parser.error(f"no size is called {sorted(unknown)[0]!r}")
    print(
        "| a token | ms | over reading its weights once | over reading those of float32 |\n|---|---:|---:|---:|",
        flush=True,
    )
    for row in SIZES:
        if not options.names or row.name in options.names:
            print("\n".join(lines(row.name, measure(row, options.turns, options.tokens, options.compile))), flush=True)
    if hasattr(os, "getloadavg"):  # not on Windows
        print(f"load {os.getloadavg()[1]:.0f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
