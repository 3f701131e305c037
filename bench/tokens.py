"""A token of greedy decoding at published sizes against the reading of its weights, which it cannot do without.

    OMP_NUM_THREADS=1 python -m bench.tokens smollm2-135m gpt2 --compile

One row on one CPU: each step reads every weight of the decoder once and computes little with it. The time of reading is
that of adding up the bytes of all weights that a step needs as float32 numbers, once for each dtype. Weights are
random; times are CPU milliseconds, the best of several turns, in which all columns take part one after the other. With
--compile there is a compiled column, and how long compiling takes; with --inductor another one, which has PyTorch's own
products. Where xllamacpp is installed, llama.cpp takes part; its Q8_0 rounds the activations to int8 as well, which is
other work than tfkit's int8. Each size is stored as soon as it is measured (`bench.kept`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import tfkit
from bench import llama_cpp
from bench.gpu_cases import is_read
from bench.kept import KeptRows, Row, add_options, environment, installed, kept_file, told
from bench.models import pair, with_section
from bench.rows import PUBLISHED, BenchmarkRow
from tfkit.nn.int8 import Int8Weight
from tfkit_course.command_line import make_parser

SMOLLM2 = {
    "vocab_size": 49152, "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9,
    "num_key_value_heads": 3, "intermediate_size": 1536, "max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
    "tie_word_embeddings": True,
}  # fmt: skip
SIZES = [
    BenchmarkRow("smollm2-135m", "LlamaConfig", "LlamaForCausalLM", SMOLLM2, generates=True),
    BenchmarkRow("t5-small", "T5Config", "T5ForConditionalGeneration", {"decoder_start_token_id": 0}, generates=True),
    *(row for row in PUBLISHED if row.generates),
]
PROMPT = 32
HEADING = "## A token at published sizes"
HEAD = "| a token | ms | over reading its weights once | over reading those of float32 |\n|---|---:|---:|---:|"
QUALITY = """What rounding the weights costs, on the published SmolLM2-135M-Instruct and English text: 1.637 bits per
byte in float32, 1.638 in bfloat16, 1.640 in int8 (`decisions/weights.md#125-weights-in-int8-and-bfloat16`)."""
COMPILING_ROW = ", compiling"
COMPILING_HEAD = "| compiling | s, the first process | s, another, from torch's cache on disk |\n|---|---:|---:|"


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


def columns(
    row: BenchmarkRow, compile: bool, inductor: bool
) -> tuple[dict[str, Callable[[], Any]], dict[str, Callable[[int], Any]]]:
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
        if inductor:
            timed[f"tfkit, {dtype}, inductor alone"] = tfkit_decoder(own, ids, compile="inductor")
    timed |= llama_cpp.decoders(model, ids)
    return {dtype: reader(own) for dtype, own in models.items()}, timed


def measure(row: BenchmarkRow, turns: int, new: int, compile: bool = False, inductor: bool = False) -> dict[str, float]:
    """Column -> milliseconds: of a token, and of "reading" the weights of each dtype. The prompt's share is taken
    off."""
    readers, timed = columns(row, compile, inductor)
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


def compiling(row: BenchmarkRow) -> dict[str, float]:
    """Seconds of the clock until a process has its first tokens of a compiled step, with nothing in torch's cache on
    disk, and then in another process with what the first has left there."""
    head = "causal_lm" if row.model.endswith(("CausalLM", "LMHeadModel")) else "seq2seq_lm"
    with tempfile.TemporaryDirectory() as directory:
        environ = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": directory}
        command = [sys.executable, "-c", COMPILING, row.name, head]
        seconds = [
            float(subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout)
            for _ in range(2)
        ]
    return {"first": seconds[0], "again": seconds[1]}


COMPILING = f"""
import sys, time, torch, tfkit
model = tfkit.from_config(*sys.argv[1:]).eval()
ids = torch.arange(3, {3 + PROMPT})[None]
began = time.monotonic()
tfkit.generate(model, ids, max_new_tokens=3, end_id=-1, compile=True)
print(time.monotonic() - began)
"""


def compiling_line(row: Row) -> str:
    """The row of the table of compiling."""
    first, again = row["found"]["first"], row["found"]["again"]
    return f"| {row['name'].removesuffix(COMPILING_ROW)} | {first:.0f} | {again:.0f} |"


def section(rows: list[Row], compiled: list[Row], here: Row) -> str:
    """The section of docs/benchmarks.md."""
    took = ", ".join(f"{one['name']} {one['seconds']} s" for one in [*rows, *compiled])
    llama = f"llama.cpp by xllamacpp {here['xllamacpp']}" if here["xllamacpp"] else "llama.cpp is not installed"
    table = [line for one in rows for line in lines(one["name"], one["found"])]
    text = f"""{HEADING}

Measured by `make bench-tokens` on {told([*rows, *compiled], here)}; {llama}.
One row, random weights, CPU milliseconds for a token after {PROMPT}, the best of {here["turns"]} turns of
{here["new"]} tokens, in which all lines of a size take part one after the other. llama.cpp's Q8_0 rounds activations
to int8 too, tfkit's int8 does not; it takes part where a model has Llama's layout. Measuring took {took}.

{QUALITY}

{HEAD}
{chr(10).join(table)}
"""
    if not compiled:
        return text
    return f"""{text}
Until a process has its first tokens of a compiled step in float32, seconds of the clock:

{COMPILING_HEAD}
{chr(10).join(map(compiling_line, compiled))}
"""


def main(arguments: list[str] | None = None) -> int:
    """The command: prints the table, each size as soon as it is measured, and the load of the machine."""
    about = (__doc__ or "").partition("\n")[0]
    parser = make_parser("bench.tokens", about)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"sizes: {', '.join(row.name for row in SIZES)}")
    parser.add_argument(
        "--turns",
        type=int,
        default=4,
        help="measurements of each side, of which the best counts (default: %(default)s)",
    )
    parser.add_argument("--tokens", type=int, default=12, help="tokens of each measurement (default: %(default)s)")
    parser.add_argument("--compile", action="store_true", help="also with compiled steps")
    parser.add_argument("--inductor", action="store_true", help="also compiled with PyTorch's own products")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the section with these sizes on this page")
    add_options(parser)
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - {row.name for row in SIZES}:
        parser.error(f"no size is called {sorted(unknown)[0]!r}")
    how = {"turns": options.turns, "new": options.tokens, "compile": options.compile, "inductor": options.inductor}
    here = environment(xllamacpp=installed("xllamacpp"), **how)
    sizes = [row for row in SIZES if not options.names or row.name in options.names]
    file = kept_file("tokens", options, [row.name for row in SIZES], ("compile", "inductor"))
    kept = KeptRows(file, here, options.resume)
    print(HEAD, flush=True)
    rows = []
    for row in sizes:
        rows.append(kept.row(row.name, partial(measure, row, **how)))
        print("\n".join(lines(row.name, rows[-1]["found"])), flush=True)
    print(f"\n{COMPILING_HEAD}" if options.compile else "", flush=True)
    compiled = []
    for row in sizes if options.compile else ():
        compiled.append(kept.row(row.name + COMPILING_ROW, partial(compiling, row)))
        print(compiling_line(compiled[-1]), flush=True)
    if options.write:
        options.write.write_text(with_section(options.write, section(rows, compiled, here)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
