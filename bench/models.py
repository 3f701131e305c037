"""`python -m bench.models`: each architecture against transformers, with equal weights, in turns in one process.

Absolute times depend on the machine more than on the code, so the report gives ratios: the time of transformers over
that of tfkit (above 1: tfkit is faster), from the best of alternating runs. Beside them stands the ratio of tfkit's
time to a lower bound: the matrix products of the same forward pass, timed alone.
"""

from __future__ import annotations

import argparse
import ctypes
import platform
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import Progress
from torch.utils._python_dispatch import TorchDispatchMode

import tfkit
from bench import collators, loading
from bench.kept import KeptRows, Row, add_options, environment, kept_file, told
from bench.rows import HEADS, LAYERS, PUBLISHED, ROWS, VOCAB, BenchmarkRow, D
from tfkit.decode import Beam, Greedy
from tfkit.tools.memory import peak_bytes
from tfkit_course.command_line import make_parser

NEW_TOKENS = 32


@dataclass
class BenchmarkResult:
    """Ratios for one architecture at one length; None if a measure does not apply."""

    name: str
    length: int
    ratios: dict[str, float | None] = field(default_factory=dict)
    floor: float = 0.0  # the time of tfkit over that of the matrix products alone


def pair(row: BenchmarkRow, directory: str, device: str) -> tuple[Any, Any]:
    """The model of transformers and that of tfkit, with the same weights."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.manual_seed(0)
    config = getattr(transformers, row.config)(**row.fields)
    reference = getattr(transformers, row.model)(config).eval()
    reference.config.use_cache = (
        False  # as in training: models of tfkit keep no cache unless given one; generation turns it on
    )
    reference.save_pretrained(directory)
    return reference.to(device), tfkit.from_pretrained(directory).eval().to(device)


def best_times(
    one: Callable[[], Any], other: Callable[[], Any], turns: int, seconds: float = 1.0, device: str = "cpu"
) -> tuple[float, float]:
    """The best time of each in seconds, in turns after one warm-up each: at least `turns` turns, and `seconds` in all.

    Other work on the machine only makes a run longer, so the best time says most about the code. On a CPU the time is
    the CPU time of this process, without waiting.
    """
    clock = time.process_time if device == "cpu" else time.perf_counter
    times: tuple[list[float], list[float]] = ([], [])
    one(), other()
    while len(times[0]) < turns or (sum(map(sum, times)) < seconds and len(times[0]) < 20 * turns):
        for call, measured in zip((one, other), times, strict=True):
            _wait(device)
            start = clock()
            call()
            _wait(device)
            measured.append(clock() - start)
    return min(times[0]), min(times[1])


def ratio(
    reference: Callable[[], Any], candidate: Callable[[], Any], turns: int, device: str = "cpu"
) -> tuple[float, float]:
    """The best time of `reference` over that of `candidate`, and the latter in seconds. A ratio under 1 is
    timed again in three times as many turns."""
    a, b = best_times(reference, candidate, turns, device=device)
    if a < b:
        again = best_times(reference, candidate, 3 * turns, device=device)
        a, b = min(a, again[0]), min(b, again[1])
    return a / b, b


def disable_malloc_trimming() -> None:
    """Makes glibc's malloc keep freed memory in this process, which holds both models; with another C library it does
    nothing.

    By default a large block goes back to the system or not depending on what was freed before it, and a block that is
    fetched anew is cleared page by page at its first use: time that says nothing about either model. Raises OSError if
    malloc refuses.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
    mallopt = ctypes.CDLL(None).mallopt
    for option, size in ((M_MMAP_THRESHOLD, 2**30), (M_TRIM_THRESHOLD, 2**31 - 1)):
        if not mallopt(option, size):
            raise OSError(f"mallopt({option}, {size}) was refused")


def _wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def measure(row: BenchmarkRow, device: str, turns: int, compiled: bool = False) -> Iterator[BenchmarkResult]:
    """One result per length; compiled: both models under torch.compile, without generation. Raises ValueError if the
    two models disagree, as a ratio would then mean nothing."""
    with tempfile.TemporaryDirectory() as directory:
        reference, candidate = pair(row, directory, device)
    every = {length: make_inputs(row, length, device) for length in row.lengths}
    for inputs in every.values():  # before training, because AdamW steps amplify rounding differences
        _agree(row, reference, candidate, inputs)
    if compiled:
        reference.compile()
        candidate.compile()
    for length, inputs in every.items():
        result = BenchmarkResult(row.name, length)
        forward = _forward(candidate, inputs)
        result.ratios["forward"], seconds = ratio(_forward(reference, inputs), forward, turns, device)
        result.floor = seconds / floor(forward, turns, device)
        result.ratios["training step"], _ = ratio(
            _training(reference, inputs), _training(candidate, inputs), max(2, turns // 2), device
        )
        result.ratios["memory"] = _memory(reference, inputs, device) / _memory(candidate, inputs, device)
        result.ratios["written"] = bytes_written(_training(reference, inputs)) / bytes_written(
            _training(candidate, inputs)
        )
        if row.generates and length == row.lengths[0] and not compiled:
            for name, beams in (("greedy", 1), ("beam 4", 4)):
                one, other = _generating(row, reference, candidate, inputs, beams)
                result.ratios[name], _ = ratio(one, other, max(2, turns // 2), device)
        yield result


def make_inputs(row: BenchmarkRow, length: int, device: str) -> dict[str, Any]:
    """Random inputs and labels of that many tokens, the same at each call."""
    rows = row.sequences if length <= 1024 else 1
    draw = torch.Generator().manual_seed(length)
    if row.reads == "pixels":
        size, kinds = row.fields["image_size"], row.fields["num_labels"]
        pixels = torch.randn(rows, 3, size, size, generator=draw)
        return {"pixel_values": pixels.to(device), "labels": (torch.arange(rows) % kinds).to(device)}
    rows = 4 if row.reads == "pairs" else rows  # among which each finds its own
    ids = torch.randint(3, VOCAB, (rows, length), generator=draw).to(device)
    if row.reads == "pairs":
        size = row.fields["vision_config"]["image_size"]
        pixels = torch.randn(rows, 3, size, size, generator=draw)
        return {"input_ids": ids, "pixel_values": pixels.to(device), "return_loss": True}
    if row.reads == "sound":
        shape = (rows, row.fields["num_mel_bins"], 2 * row.fields["max_source_positions"])
        return {"input_features": torch.randn(shape, generator=draw).to(device), "labels": ids}
    return {"input_ids": ids, "labels": ids}


def logits_of(out: Any) -> torch.Tensor:
    """The scores that a model gives."""
    found: torch.Tensor = out.logits_per_text if "logits_per_text" in out else out.logits
    return found


def _agree(row: BenchmarkRow, reference: Any, candidate: Any, inputs: dict) -> float:
    """The largest difference between the logits of both models. Raises ValueError if it is above 1e-3."""
    with torch.no_grad():
        gap = (logits_of(reference(**inputs)) - logits_of(candidate(**inputs))).abs().max().item()
    if gap > 1e-3:
        raise ValueError(f"{row.name}: the logits differ by {gap:.2g}")
    return gap


def _forward(model: Any, inputs: dict) -> Callable[[], torch.Tensor]:
    @torch.no_grad()
    def run() -> torch.Tensor:
        return logits_of(model(**inputs))

    return run


def _memory(model: Any, inputs: dict, device: str) -> int:
    """The peak memory of one training step in bytes, without the weights."""

    def step() -> None:
        model.train()
        model(**inputs).loss.backward()
        model.zero_grad()
        model.eval()

    if device == "cpu":
        return peak_bytes(step)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    return torch.cuda.max_memory_allocated() - before


def _training(model: Any, inputs: dict) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)

    def step() -> None:
        model.train()
        optimizer.zero_grad()
        model(**inputs).loss.backward()
        optimizer.step()
        model.eval()

    return step


def _generating(
    row: BenchmarkRow, reference: Any, candidate: Any, inputs: dict, beams: int
) -> tuple[Callable, Callable]:
    from transformers import GenerationMixin

    how: dict[str, Any] = {"max_new_tokens": NEW_TOKENS, "min_new_tokens": NEW_TOKENS, "do_sample": False}
    how |= {"pad_token_id": 0, "eos_token_id": None, "use_cache": True}
    if row.reads == "sound":
        given = {"input_features": inputs["input_features"]}
    else:
        ids = inputs["input_ids"][:, :32]
        given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    strategy = Greedy() if beams == 1 else Beam(beams)

    def other() -> Any:
        return tfkit.generate(candidate, **given, strategy=strategy, end_id=-1, max_new_tokens=NEW_TOKENS)

    # Whisper's own `generate` is for long recordings; all models share the plain generation loop
    return lambda: GenerationMixin.generate(reference, **given, num_beams=beams, **how), other


class _Products(TorchDispatchMode):
    """Counts the matrix products of a run by their shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name in ("mm", "bmm"):
            self.counts[tuple(args[0].shape), tuple(args[1].shape)] += 1
        elif name == "addmm":
            self.counts[tuple(args[1].shape), tuple(args[2].shape)] += 1
        elif "scaled_dot_product" in name:
            backward = name.endswith("_backward")  # computes the scores again, and four gradients
            q, k, v = (tuple(t.shape) for t in args[backward : 3 + backward])
            shared = q[:-2]  # grouped queries: a head of keys is multiplied once for each head of queries
            self.counts[q, (*shared, k[-1], k[-2])] += 1 + backward
            self.counts[(*q[:-1], k[-2]), (*shared, *v[-2:])] += 1
            if backward:
                self.counts[(*shared, k[-2], q[-2]), q] += 2
        return func(*args, **(kwargs or {}))


def floor(run: Callable[[], Any], turns: int, device: str = "cpu") -> float:
    """The time in seconds of the matrix products of `run` alone, at the same shapes."""
    with _Products() as products:
        run()
    total = 0.0
    for (left, right), count in products.counts.items():
        a, b = torch.randn(left, device=device), torch.randn(right, device=device)
        product = lambda a=a, b=b: a @ b
        best, _ = best_times(product, lambda: None, turns, seconds=0.1, device=device)
        total += count * best
    return total


class _Written(TorchDispatchMode):
    """Adds up the bytes of the results of all operations, except views and memory that is only reserved."""

    bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__.startswith(("empty", "new_empty")):
            return out
        given = {t.untyped_storage().data_ptr() for t in args if isinstance(t, torch.Tensor)}
        in_place = func.overloadpacket.__name__.endswith("_")
        for tensor in out if isinstance(out, tuple | list) else (out,):
            if isinstance(tensor, torch.Tensor) and (in_place or tensor.untyped_storage().data_ptr() not in given):
                self.bytes += tensor.numel() * tensor.element_size()
        return out


def bytes_written(run: Callable[[], Any]) -> int:
    """Bytes that the operations of `run` write: unlike a time, it does not depend on the machine's other work."""
    run()  # allocates what only the first call makes, such as the optimizer's state
    with _Written() as written:
        run()
    return written.bytes


COLUMNS = ("forward", "training step", "written", "memory", "greedy", "beam 4")


def table(results: list[BenchmarkResult]) -> str:
    """The results as a Markdown table."""
    head = ["", "tokens", *COLUMNS, "tfkit over its matrix products"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for result in results:
        cells = [f"{result.ratios[c]:.2f}" if result.ratios.get(c) else "" for c in COLUMNS]
        lines.append(f"| {result.name} | {result.length} | {' | '.join(cells)} | {result.floor:.2f} |")
    return "\n".join(lines)


def results_of(rows: list[Row]) -> list[BenchmarkResult]:
    """The results that rows were stored of."""
    return [BenchmarkResult(**result) for row in rows for result in row["found"]]


def page(rows: list[Row], here: Row, collated: str, loaded: list[str]) -> str:
    """The text of docs/benchmarks.md. collated: the table of collators; loaded: the lines of that of loading."""
    on = f", on {torch.cuda.get_device_name()}" if here["device"] == "cuda" else ""
    return f"""# Benchmarks

Written by `make bench` on {told(rows, here)}{on}.
Each row: the same weights on both sides, 4 sequences (of 4,096 tokens, and of ProphetNet's, 1), d = {D}, {LAYERS}
layers, {HEADS} heads, float32, one process, in alternation, each at its best in CPU seconds.
Numbers are **transformers over tfkit** (above 1: tfkit is faster, or needs less; "written" are the bytes that all
operations of a training step write, which no other work of the machine can change; memory is the peak of a training
step beside the weights); generation makes {NEW_TOKENS} tokens from 32. A time under 1 was measured again, in three
times as many turns. The last column is tfkit's forward pass over the time of its own matrix products alone: 1 is the
floor, and less is where the fused kernel, which keeps no scores, beats the products.
`decisions/speed.md` explains the numbers. No row: the RNN, the 2017 transformer, GPT-3 and
LLaDA, which transformers does not have; Transformer-XL, XLM-ProphetNet and MMBT, which it no longer has; DPR, RAG and
BertGeneration, whose passes are BERT's and BART's. ViT reads pictures of 256 patches, Whisper sounds of 512 frames.

{table(results_of(rows))}

## Collators

Ids into batches, {collators.ROWS} rows of {collators.LENGTH}. transformers' span corruption and BART's
noise are example scripts outside its package: there its masked LM is the yardstick.

{collated}

## Loading

`from_pretrained` of a checkpoint with random weights, and a forward pass over eight tokens: the whole process, imports
included, each side in processes of its own, at its best of three. Above 1: tfkit is quicker, or needs less.

{chr(10).join([loading.HEAD, *loaded])}
"""


def with_other_sections(new: str, file: Path) -> str:
    """The page, followed by the sections of the file whose headings it does not have: they were measured otherwise."""
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    written = set(re.findall(r"^## .*", new, re.MULTILINE))
    sections = [part.strip() for part in re.split(r"^(?=## )", old, flags=re.MULTILINE)[1:]]
    return "\n\n".join([new.strip(), *(part for part in sections if part.partition("\n")[0] not in written)]) + "\n"


def with_section(file: Path, section: str) -> str:
    """The file with this section in place of the one of the same heading, or at its end."""
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    parts = re.split(r"^(?=## )", old, flags=re.MULTILINE)
    heading = section.partition("\n")[0]
    at = [place for place, part in enumerate(parts) if part.partition("\n")[0] == heading]
    place = at[0] if at else len(parts)
    kept = [part.strip() for part in (*parts[:place], section, *parts[place + 1 :])]
    return "\n\n".join(part for part in kept if part) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """The command; returns 1 if the two sides disagree."""
    parser = make_parser("bench.models", (__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="architectures; by default all that have a row")
    parser.add_argument("--turns", type=int, default=7, help="measured calls of each side, at least; default 7")
    parser.add_argument(
        "--device", default="cuda" if torch.cuda.is_available() else "cpu", help="default: cuda where there is one"
    )
    parser.add_argument("--write", type=Path, help="also write the page to this file")
    parser.add_argument(
        "--published", action="store_true", help="measure published sizes: bert-base, gpt2, t5-base, bart-base"
    )
    parser.add_argument(
        "--compile", action="store_true", help="compile both sides with torch.compile; generation is left out"
    )
    add_options(parser)
    options = parser.parse_args(arguments)
    if options.write and (options.published or options.compile):
        parser.error("--write writes the page of the small rows as they are: leave out --published and --compile")
    chosen = PUBLISHED if options.published else ROWS
    if unknown := set(options.names) - {row.name for row in chosen}:
        parser.error(f"no row is called {sorted(unknown)[0]!r}")
    sizes = [row for row in chosen if not options.names or row.name in options.names]
    how = {name: getattr(options, name) for name in ("device", "turns", "published", "compile")}
    file = kept_file("models", options, [row.name for row in chosen], ("published", "compile"))
    kept = KeptRows(file, environment(**how), options.resume)
    rows, console = [], Console(stderr=True)
    with Progress(console=console, transient=True) as progress:
        for size in progress.track(sizes, description="measuring"):
            try:
                rows.append(kept.row(size.name, partial(figures, size, options)))
            except ValueError as error:
                console.print(str(error))
                return 1
    print(table(results_of(rows)))
    if options.write:
        collated = kept.row("collators", lambda: collators.table(best_times, 20))["found"]
        loaded = [kept.row(f"loading {one.name}", partial(loading.line, one))["found"] for one in loading.ROWS]
        text = page(rows, kept.here, collated, loaded)
        options.write.write_text(with_other_sections(text, options.write), encoding="utf-8")
    return 0


def figures(size: BenchmarkRow, options: argparse.Namespace) -> list[dict[str, Any]]:
    """What is stored of an architecture. Raises ValueError if the two sides disagree."""
    return [asdict(result) for result in measure(size, options.device, options.turns, options.compile)]


if __name__ == "__main__":
    disable_malloc_trimming()  # here and not in main(): it holds for the whole process, and tests call main()
    sys.exit(main())
