"""A token of greedy decoding at published sizes against the reading of its weights, which it cannot do without.

    OMP_NUM_THREADS=1 python -m bench.tokens smollm2-135m gpt2 --compile

One row on one CPU: each step reads every weight of the decoder once and computes little with it. The time of reading is
that of adding up the bytes of all weights that a step needs as float32 numbers, once for each dtype. Weights are
random; times are CPU milliseconds, the best of several turns, in which all columns take part one after the other. With
--compile there are two compiled columns, of which "inductor alone" has PyTorch's own products. Where xllamacpp is
installed, llama.cpp takes part; its Q8_0 rounds the activations to int8 as well, which is other work than tfkit's int8.
Each size is stored as soon as it is measured, and --resume skips those that the same code has measured on this machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import tfkit
from bench import llama_cpp
from bench.gpu_cases import is_read
from bench.models import pair, with_section
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
ROOT = Path(__file__).parents[1]
PROMPT = 32
HEADING = "## A token at published sizes"
HEAD = "| a token | ms | over reading its weights once | over reading those of float32 |\n|---|---:|---:|---:|"


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


def commit(folder: Path = ROOT) -> str:
    """The commit of a checkout, with a hash of what has changed since in the code that is measured. Empty outside of
    one."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=True)
        return done.stdout.decode(errors="replace")

    try:
        head, changes = git("rev-parse", "HEAD").strip(), git("diff", "HEAD", "--", "tfkit", "bench")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{head} and changes {hashlib.sha256(changes.encode()).hexdigest()[:12]}" if changes else head


def processor() -> str:
    """What the processor is called."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def environment(compile: bool, turns: int, new: int) -> dict[str, Any]:
    """What figures depend on; stored figures of another environment are measured again."""
    return {
        "torch": torch.__version__,
        "llama.cpp": version("xllamacpp") if find_spec("xllamacpp") else None,
        "commit": commit(),
        "machine": platform.node(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "compile": compile,
        "turns": turns,
        "tokens": new,
    }


def saved(file: Path, here: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Name → what was stored of a size in this environment, the last of several; nothing where no commit is known.

    A line that was cut short is left out.
    """
    found: dict[str, dict[str, Any]] = {}
    if not (file.exists() and here["commit"]):
        return found
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            one = json.loads(line)
        except ValueError:
            print(f"{file}, line {number} was cut short and is left out", file=sys.stderr)
            continue
        if one["here"] == here:
            found[one["name"]] = one
    return found


def keep(file: Path, one: dict[str, Any]) -> None:
    """Append the figures of a size, in a line of their own also where the last one was cut short."""
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_bytes() if file.exists() else b""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(("\n" if before and not before.endswith(b"\n") else "") + json.dumps(one) + "\n")


def kept_file(names: list[str], compile: bool) -> Path:
    """Where sizes are stored unless told otherwise: some sizes, or eager steps alone, do not replace a whole run's."""
    order = [row.name for row in SIZES if row.name in names]
    return Path("build") / f"{'-'.join(['bench-tokens', *order, *(['compiled'] if compile else [])])}.jsonl"


def timed_size(row: BenchmarkRow, here: dict[str, Any]) -> dict[str, Any]:
    """The figures of a size, how long they took, and how busy the machine was."""
    began = time.monotonic()
    found = measure(row, here["turns"], here["tokens"], here["compile"])
    load = round(os.getloadavg()[1], 1) if hasattr(os, "getloadavg") else None  # not on Windows
    return {"name": row.name, "date": date.today().isoformat(), "here": here, "found": found,
            "seconds": round(time.monotonic() - began), "load": load}  # fmt: skip


def section(kept: list[dict[str, Any]], here: dict[str, Any]) -> str:
    """The section of docs/benchmarks.md."""
    took = ", ".join(f"{one['name']} {one['seconds']} s at load {one['load']}" for one in kept)
    llama = f"llama.cpp by xllamacpp {here['llama.cpp']}" if here["llama.cpp"] else "llama.cpp is not installed"
    dates = " and ".join(sorted({one["date"] for one in kept}))
    code = f"commit {here['commit'].partition(' ')[0][:12]}" if here["commit"] else "no commit"
    code += " with changes" if " " in here["commit"] else ""
    rows = [line for one in kept for line in lines(one["name"], one["found"])]
    return f"""{HEADING}

Measured by `make bench-tokens` on {dates}: {code}, torch {here["torch"]}, {llama}, {here["threads"]} threads,
{here["processor"]}, {here["cores"]} cores. One row, random weights, CPU milliseconds for a token
after {PROMPT}, the best of {here["turns"]} turns of {here["tokens"]} tokens, in which all lines of a size take part
one after the other. llama.cpp's Q8_0 rounds activations to int8 too, tfkit's int8 does not. Measuring took {took}.

{HEAD}
{chr(10).join(rows)}
"""


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
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the section with these sizes on this page")
    parser.add_argument(
        "--kept",
        type=Path,
        metavar="FILE",
        help="store each size here as soon as it is measured; by default under build/, called after the sizes",
    )
    parser.add_argument("--resume", action="store_true", help="skip sizes that this code has stored on this machine")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - {row.name for row in SIZES}:
        parser.error(f"no size is called {sorted(unknown)[0]!r}")
    options.kept = options.kept or kept_file(options.names, options.compile)
    here = environment(options.compile, options.turns, options.tokens)
    if not options.resume:
        options.kept.unlink(missing_ok=True)
    kept = saved(options.kept, here)
    rows = [row for row in SIZES if not options.names or row.name in options.names]
    print(HEAD, flush=True)
    for row in rows:
        if row.name not in kept:
            kept[row.name] = timed_size(row, here)
            keep(options.kept, kept[row.name])
            print(f"  {row.name}: {kept[row.name]['seconds']} s", file=sys.stderr)
        print("\n".join(lines(row.name, kept[row.name]["found"])), flush=True)
    if options.write:
        text = section([kept[row.name] for row in rows], here)
        options.write.write_text(with_section(options.write, text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
