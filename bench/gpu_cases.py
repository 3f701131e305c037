"""The cases that `bench.gpu` measures on a GPU: peak rates and laws, training, decoding, grading. Each returns
figures."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile

import tfkit
from tfkit import registry
from tfkit.hub import published
from tfkit.nn.experts import stack_experts
from tfkit.objectives.chunked_cross_entropy import chunked_logits
from tfkit.tools.memory import peak_bytes
from tfkit.train.process_group import layers
from tfkit.train.throughput import CountedOperations

Values = dict[str, Any]
ROOT = Path(__file__).parents[1]


@dataclass
class Setup:
    """The device, the sizes and the time limit of measuring; also caches values that several cases share."""

    device: str
    tiny: bool
    limit: float = 90.0  # seconds for one figure
    figures: Values = field(default_factory=dict)  # those of the running case so far, kept also if it fails
    shared: dict[str, Any] = field(default_factory=dict)
    large: tuple[str, Any] = ("", None)

    def memoize(self, name: str, make: Callable[[], Any]) -> Any:
        """The value of `make`, computed at the first request and then kept."""
        if name not in self.shared:
            self.shared[name] = make()
        return self.shared[name]

    def memoize_one(self, name: str, make: Callable[[], Any]) -> Any:
        """As `memoize`, for values so large that only one is kept: the previous one is freed first."""
        if self.large[0] != name:
            self.free()
            self.large = (name, make())
        return self.large[1]

    def free(self) -> None:
        """Frees memory: the value that `memoize_one` keeps, and all unreferenced objects."""
        self.large = ("", None)
        gc.collect()
        torch.compiler.reset()
        if self.device == "cuda":
            torch.cuda.empty_cache()


@dataclass(frozen=True)
class BenchmarkCase:
    """One line of a table."""

    name: str
    run: Callable[[Setup], Values]
    limit: float = 300.0  # seconds


def first_line(error: BaseException) -> str:
    """The first line of an error's message, shortened to the width of a table's cell."""
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text if len(text) <= 80 else text[:79] + '…'}"


@contextlib.contextmanager
def time_limit(most: float) -> Iterator[None]:
    """Raises TimeoutError in the block after `most` seconds, or when an outer limit is up. Has no effect outside of the
    main thread, or where the system has no such alarm."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: Any) -> None:
        raise TimeoutError(f"not done after {most:g} s")

    began, outer, handler = (
        time.monotonic(),
        signal.getitimer(signal.ITIMER_REAL)[0],
        signal.signal(signal.SIGALRM, stop),
    )
    signal.setitimer(signal.ITIMER_REAL, min(most, outer or most))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        left = outer - (time.monotonic() - began)
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, left)
        elif outer and callable(handler):
            handler(signal.SIGALRM, None)


def attempt(measured: Callable[[], float], setup: Setup) -> float | str:
    """A figure, or the reason why there is none, which may be that it takes too long: if one side fails, the other is
    still measured."""
    with time_limit(setup.limit):  # outside of `try`: when the case's own time is up, the case ends
        try:
            return measured()
        except Exception as error:  # the table's cell gives the reason
            return f"failed: {first_line(error)}"


def ratio(one: Any, other: Any) -> float | None:
    """One over the other, if both are numbers."""
    return one / other if isinstance(one, float) and isinstance(other, float) and other else None


def synchronize(device: str) -> None:
    """Waits until the GPU has finished its queued work."""
    if device == "cuda":
        torch.cuda.synchronize()


def seconds(do: Callable[[], Any], device: str, turns: int = 5, least: float = 0.2, warm_ups: int = 2) -> float:
    """The best time in seconds of at least `turns` runs and `least` seconds, after the warm-up runs."""
    for _ in range(warm_ups):
        do()
    synchronize(device)
    best, elapsed, done = float("inf"), 0.0, 0
    while done < turns or (elapsed < least and done < 50 * turns):
        began = time.perf_counter()
        do()
        synchronize(device)
        took = time.perf_counter() - began
        best, elapsed, done = min(best, took), elapsed + took, done + 1
    return best


# -- contact: what the card can do, and whether the laws hold on it ---------------------------------------------------
def copy_rate(setup: Setup) -> float:
    """Bytes read and written per second by a copy: the peak rate for decoding."""

    def measure() -> float:
        source = torch.empty(2**20 if setup.tiny else 2**32, dtype=torch.uint8, device=setup.device)
        target = torch.empty_like(source)
        return 2 * source.numel() / seconds(lambda: target.copy_(source), setup.device)

    return setup.memoize("copy", measure)


def matmul_rate(setup: Setup, dtype: torch.dtype = torch.bfloat16, tf32: bool = False) -> float:
    """Floating-point operations per second of an 8,192 × 8,192 product: the peak rate for training."""

    def measure() -> float:
        size = 64 if setup.tiny else 8192
        a, b = (torch.randn(size, size, device=setup.device, dtype=dtype) for _ in range(2))
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = tf32
        try:
            return 2 * size**3 / seconds(lambda: a @ b, setup.device)
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before

    return setup.memoize(f"matmul {dtype} {tf32}", measure)


def attention_rate(setup: Setup, backend: SDPBackend) -> float:
    """Operations per second of causal attention over 8,192 tokens with heads 128 wide; half of the square counts."""
    length, heads, width = (64, 2, 16) if setup.tiny else (8192, 16, 128)
    q, k, v = (torch.randn(1, heads, length, width, device=setup.device, dtype=torch.bfloat16) for _ in range(3))
    with sdpa_kernel(backend):
        took = seconds(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True), setup.device)
    return 2 * heads * length * length * width / took


def in_tera(rate: Callable[[Setup], float], setup: Setup) -> Values:
    """A rate as a row of the table."""
    return {"measured": rate(setup) / 1e12, "unit": "TFLOP/s"}


def describe_gpu(setup: Setup) -> Values:
    """The GPU's name and memory."""
    if setup.device != "cuda":
        return {"measured": "no card: the CPU stands in", "unit": ""}
    card = torch.cuda.get_device_properties(0)
    return {"measured": f"{card.name}, {card.total_memory / 2**30:.0f} GiB, {card.major}.{card.minor}", "unit": ""}


def run_tests(paths: tuple[str, ...], chosen: tuple[str, str], setup: Setup) -> Values:
    """Runs pytest on the GPU, in several processes -> its closing line; an error if tests fail. With --tiny they are
    only collected.

    chosen: a pytest option and its value, ("-m", "gpu")"""
    if not (ROOT / paths[0]).exists():
        raise FileNotFoundError(f"{paths[0]} is missing: run this from a clone of the repository")
    options = ["--collect-only"] if setup.tiny else in_processes(os.cpu_count() or 1)
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *chosen, *options]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}  # a test has a core and its box another one
    done = subprocess.run([*command, *paths], cwd=ROOT, capture_output=True, text=True, env=alone)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    closing = lines[-1] if lines else done.stderr.strip()[-160:]
    if done.returncode != 0:
        broken = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        raise RuntimeError(f"{closing}: {'; '.join(broken[:3])}")
    return {"measured": closing.strip("= "), "unit": "tests"}


def in_processes(cores: int) -> list[str]:
    """pytest's options for tests that share one card: a process for two cores, since a test's box computes as well"""
    count = min(cores // 2, MOST_PROCESSES)
    return ["-n", str(count), "--dist", "worksteal"] if count > 1 and find_spec("xdist") else []


def run_doctor(setup: Setup) -> Values:
    """The lines of `autograder doctor` about devices."""
    done = subprocess.run([sys.executable, "-m", "autograder", "doctor"], capture_output=True, text=True)
    found = re.search(r"^devices +(.+)$", done.stdout, re.MULTILINE)
    if not found:
        raise RuntimeError(f"autograder doctor: {(done.stderr or done.stdout).strip()[-160:]}")
    return {"measured": found[1], "unit": ""}


MOST_PROCESSES = 8  # each holds a CUDA context, and so does its box
LAWS = ("tests/models/test_devices.py", "tests/train/test_throughput.py", "tests/models/test_flex_attention.py")
KERNELS = (
    "tests/nn/test_triton_single_row.py", "tests/decode/test_single_row.py", "tests/decode/test_cuda_graph.py",
    "tests/nn/test_triton_flash.py", "tests/nn/test_flex.py", "tests/nn/test_experts_in_groups.py",
)  # fmt: skip


def contact(setup: Setup) -> list[BenchmarkCase]:
    """The peak rates, then the laws on the GPU."""
    backends = {
        "cuDNN": SDPBackend.CUDNN_ATTENTION,
        "flash": SDPBackend.FLASH_ATTENTION,
        "memory-efficient": SDPBackend.EFFICIENT_ATTENTION,
        "math": SDPBackend.MATH,
    }
    if setup.device == "cpu":  # a CPU has no more to measure
        backends = {"math": SDPBackend.MATH}
    products = {"bf16": (torch.bfloat16, False), "TF32": (torch.float32, True), "float32": (torch.float32, False)}
    return [
        BenchmarkCase("the card", describe_gpu),
        BenchmarkCase("copy", lambda s: {"measured": copy_rate(s) / 1e9, "unit": "GB/s, read and written"}),
        *(
            BenchmarkCase(f"product of 8,192 x 8,192, {name}", partial(in_tera, partial(_product, *kind)))
            for name, kind in products.items()
        ),
        *(
            BenchmarkCase(f"causal attention over 8,192, {name}", partial(in_tera, partial(_attention, backend)))
            for name, backend in backends.items()
        ),
        BenchmarkCase("devices that boxes reach", run_doctor),
        BenchmarkCase(
            "laws of models on the card",
            partial(run_tests, LAWS, ("-m", "gpu")),
            limit=480.0,
        ),
        BenchmarkCase("kernels and CUDA graphs on the card", partial(run_tests, KERNELS, ("-m", "gpu"))),
    ]


def _product(dtype: torch.dtype, tf32: bool, setup: Setup) -> float:
    return matmul_rate(setup, dtype, tf32)


def _attention(backend: SDPBackend, setup: Setup) -> float:
    return attention_rate(setup, backend)


# -- models of both sides ---------------------------------------------------------------------------------------------
SMALL = {  # for `--tiny`: applied to the fields that a Config has
    "d_model": 32, "n_layers": 2, "n_decoder_layers": 2, "n_heads": 4, "n_decoder_heads": 4, "n_kv_heads": 2,
    "d_ff": 48, "d_decoder_ff": 48, "d_head": 8, "d_kv": 8, "d_embed": 32, "vocab_size": 120, "window": 8, "block": 4,
    "rotary_dim": 4, "cutoffs": (20, 60), "mem_len": 8, "clamp_len": 8, "rope_scaling": None, "max_length": 256,
    "axial_shape": (8, 8), "axial_dims": (16, 16), "local_chunk": 8, "lsh_chunk": 8, "n_buckets": 8,
    "d_expert": 24, "n_experts": 8, "d_latent": 16, "d_content": 8, "d_value": 8, "d_rotary": 4,
    "layers": ("local", "lsh"), "dropout": 0.0, "local_dropout": 0.0, "lsh_dropout": 0.0, "attn_dropout": 0.0,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "decoder_start_token_id": 1, "sep_token_id": 2,
}  # fmt: skip


@dataclass(frozen=True)
class PublishedSize:
    """A published size, and the batch it is measured with: rows x length tokens."""

    size: str
    head: str
    rows: int = 16
    length: int = 512
    changes: dict[str, Any] = field(default_factory=dict)
    attention: str = "sdpa"  # or "flex_attention"

    @property
    def name(self) -> str:
        """The size and its length, in the first column of a table."""
        layers = f", {self.changes['n_layers']} layers" if "n_layers" in self.changes else ""
        kernel = ", FlexAttention" if self.attention != "sdpa" else ""
        return f"{self.size}{layers}, {self.length:,} tokens{kernel}"

    def settings(self, setup: Setup) -> dict[str, Any]:
        """Fields that override the preset's."""
        module = registry.resolve(self.size)[0]
        known = {f.name for f in fields(module.Config)}
        small = {name: value for name, value in SMALL.items() if name in known} if setup.tiny else {}
        if setup.tiny and "axial" in known:
            small["max_length"] = 64
        return {**self.changes, **small}

    def shape(self, setup: Setup) -> tuple[int, int]:
        """-> rows, length"""
        return (2, 64) if setup.tiny else (self.rows, self.length)

    def tfkit_model(self, setup: Setup) -> nn.Module:
        """The model of tfkit, freshly initialised, on the device."""
        with torch.device(setup.device):
            settings = self.settings(setup)
            return tfkit.from_config(self.size, self.head, attn_implementation=self.attention, **settings)

    def transformers_model(self, setup: Setup) -> Any:
        """transformers' model of the same configuration. Raises LookupError if it has none."""
        import transformers

        transformers.logging.set_verbosity_error()
        module, preset = registry.resolve(self.size)
        kind = module.__name__.rpartition(".")[2]
        kind = {architecture: name for name, architecture in published.NAMES.items()}.get(kind, kind)
        config_dict = published.write(module, asdict(module.Config(**{**preset, **self.settings(setup)})), self.head)
        config_dict = json.loads(json.dumps(config_dict))  # as read from a file: lists instead of tuples
        name = config_dict.pop("architectures")[0]
        if not hasattr(transformers, name):
            raise LookupError(f"transformers {transformers.__version__} has no {name}")
        with torch.device(setup.device):
            return getattr(transformers, name)(transformers.AutoConfig.for_model(kind, **config_dict))


TRAINED = [
    PublishedSize("bert-large-uncased", "masked_lm", rows=32),
    PublishedSize("gpt2-medium", "causal_lm", rows=16, length=1024),
    PublishedSize("t5-large", "seq2seq_lm", rows=16),
    PublishedSize("bart-large", "seq2seq_lm", rows=16, length=1024),
    PublishedSize("xlnet-large-cased", "masked_lm", rows=16),
    PublishedSize("deberta-large", "masked_lm", rows=16),
    PublishedSize("longformer-base-4096", "masked_lm", rows=4, length=4096),
    PublishedSize("longformer-base-4096", "masked_lm", rows=1, length=16384, changes={"max_length": 16386}),
    PublishedSize("bigbird-roberta-base", "masked_lm", rows=4, length=4096),
    PublishedSize("bigbird-roberta-base", "masked_lm", rows=1, length=16384, changes={"max_length": 16384}),
    PublishedSize("longformer-base-4096", "masked_lm", rows=1, length=16384, attention="flex_attention",
        changes={"max_length": 16386, "attn_dropout": 0.0}),  # FlexAttention has no dropout of the weights
    PublishedSize("bigbird-roberta-base", "masked_lm", rows=1, length=16384, attention="flex_attention",
        changes={"max_length": 16384}),
    PublishedSize("reformer-enwik8", "causal_lm", rows=1, length=65536),
    PublishedSize("prophetnet-large-uncased", "seq2seq_lm", rows=8, length=504),  # its 512 positions have room for 510
    PublishedSize("transfo-xl-wt103", "causal_lm", rows=16),
    PublishedSize("llama-3.2-1b", "causal_lm", rows=4, length=2048),
    PublishedSize("mixtral-8x7b", "causal_lm", rows=4, length=2048, changes={"n_layers": 2}),
    PublishedSize("moonlight-16b-a3b", "causal_lm", rows=4, length=2048, changes={"n_layers": 3}),
]  # fmt: skip
TRAINING_COLUMNS = (
    "rows x tokens", "forward ms", "step ms", "padded step ms", "compiled step ms", "TFLOP/s", "of products", "peak GB",
    "transformers: step ms", "transformers: compiled step ms", "transformers / tfkit", "compiled: transformers / tfkit",
    "seconds",
)  # fmt: skip


# -- forward pass and training step -----------------------------------------------------------------------------------
def training(setup: Setup) -> list[BenchmarkCase]:
    """One row for each published size."""
    return [BenchmarkCase(size.name, partial(train_size, size)) for size in TRAINED]


def batch_of(size: PublishedSize, setup: Setup, vocabulary: int) -> dict[str, Tensor]:
    """Random ids, also as labels, [B,L]"""
    ids = torch.randint(3, vocabulary, size.shape(setup), device=setup.device)
    return {"input_ids": ids, "labels": ids.clone()}


def pad_batch(batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same batch, with padding at the end of half of the rows."""
    mask = torch.ones_like(batch["input_ids"])
    mask[::2, -(mask.size(1) // 8) :] = 0
    return {**batch, "attention_mask": mask}


def training_step(model: Any, setup: Setup) -> Callable[[dict[str, Tensor]], None]:
    """Forward under autocast, backward and AdamW, as in `tfkit.train`; nothing waits for the GPU."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)

    def step(batch: dict[str, Tensor]) -> None:
        optimizer.zero_grad(set_to_none=True)
        with (
            torch.autocast(setup.device, torch.bfloat16),
            chunked_logits(),
        ):  # a context that affects models of tfkit only
            loss = model(**batch).loss
        loss.backward()
        optimizer.step()

    return step


def compile_layers(model: nn.Module, setup: Setup) -> None:
    """Compiles each repeated layer as one graph, shared by all: compiling 24 layers as a whole takes minutes."""
    for layer in layers(model):
        layer.compile(backend="aot_eager" if setup.tiny else "inductor")


def peak_of_step(step: Callable[[], None], setup: Setup) -> float:
    """Peak memory of a step in GB, including weights and optimizer moments."""
    if setup.device != "cuda":
        return peak_bytes(step) / 1e9
    torch.cuda.reset_peak_memory_stats()
    step()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() / 1e9


def train_size(size: PublishedSize, setup: Setup) -> Values:
    """Forward pass, training step, with padding, compiled; transformers' too; and the bound from matrix products
    alone."""
    values = setup.figures
    values["rows x tokens"] = " x ".join(f"{n:,}" for n in size.shape(setup))
    for side in (train_tfkit, train_transformers):
        setup.free()
        side(size, setup)
    values["transformers / tfkit"] = ratio(values["transformers: step ms"], values["step ms"])
    values["compiled: transformers / tfkit"] = ratio(
        values["transformers: compiled step ms"], values["compiled step ms"]
    )
    return values


def train_tfkit(size: PublishedSize, setup: Setup) -> None:
    """The columns for the model of tfkit."""
    model = size.tfkit_model(setup).train()
    stack_experts(model)
    batch = batch_of(size, setup, model.config.vocab_size)  # type: ignore[union-attr, arg-type]
    step = training_step(model, setup)
    with CountedOperations() as counted:
        step(batch)
    values = setup.figures
    values["step ms"] = took = step_time(step, batch, setup)
    values["peak GB"] = peak_of_step(lambda: step(batch), setup)
    values["forward ms"] = attempt(partial(step_time, forward(model, setup), batch, setup), setup)
    values["padded step ms"] = attempt(partial(step_time, step, pad_batch(batch), setup), setup)
    compile_layers(model, setup)
    values["compiled step ms"] = attempt(partial(step_time, step, batch, setup), setup)
    best = min(t for t in (took, values["compiled step ms"]) if isinstance(t, float))
    values["TFLOP/s"] = counted.total / best / 1e9
    values["of products"] = counted.total / (best / 1e3) / matmul_rate(setup)


def forward(model: nn.Module, setup: Setup) -> Callable[[dict[str, Tensor]], None]:
    """A forward pass without gradients and dropout."""

    def run(batch: dict[str, Tensor]) -> None:
        model.eval()
        with torch.inference_mode(), torch.autocast(setup.device, torch.bfloat16):
            model(**{name: tensor for name, tensor in batch.items() if name != "labels"} | decoder_inputs(model, batch))
        model.train()

    return run


def decoder_inputs(model: nn.Module, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The inputs of an encoder-decoder's decoder."""
    return {"decoder_input_ids": batch["labels"]} if hasattr(model, "encode") and hasattr(model, "decoder") else {}


def train_transformers(size: PublishedSize, setup: Setup) -> None:
    """The columns for transformers; the reason if it fails, or has no such model. What does not run is not compiled,
    which can take minutes to fail."""
    plain, compiled, values = "transformers: step ms", "transformers: compiled step ms", setup.figures
    try:
        model = size.transformers_model(setup).train()
    except (LookupError, ImportError) as error:
        values |= dict.fromkeys((plain, compiled), str(error))
        return
    model.config.use_cache = False
    step, batch = training_step(model, setup), batch_of(size, setup, model.config.vocab_size)
    values[plain] = attempt(partial(step_time, step, batch, setup), setup)
    if isinstance(values[plain], str):
        values[compiled] = "not tried"
        return
    compile_layers(model, setup)
    values[compiled] = attempt(partial(step_time, step, batch, setup), setup)


def step_time(step: Callable[[dict[str, Tensor]], None], batch: dict[str, Tensor], setup: Setup) -> float:
    """The time of a step in milliseconds."""
    turns, least = (1, 0.0) if setup.tiny else (5, 1.0)
    return 1e3 * seconds(lambda: step(batch), setup.device, turns, least)


# -- decoding ---------------------------------------------------------------------------------------------------------
DECODED = [
    PublishedSize("gpt2-xl", "causal_lm"),
    PublishedSize("llama-3.2-1b", "causal_lm"),
    PublishedSize("gpt-j-6b", "causal_lm"),
    PublishedSize("t5-3b", "seq2seq_lm"),
    PublishedSize("bart-large", "seq2seq_lm"),
]
BATCHES = (1, 8, 64)
PROMPT, NEW = 128, 64  # tokens of each row
DECODING_COLUMNS = (
    "eager ms", "compiled ms", "transformers: eager ms", "transformers: static, compiled ms",
    "reading once ms", "compiled / reading once", "transformers compiled / tfkit compiled", "tokens/s", "seconds",
)  # fmt: skip


def decoding(setup: Setup) -> list[BenchmarkCase]:
    """One row for each model and batch size; times are per step."""
    cases = [
        BenchmarkCase(f"{size.size}, {batch} row{'s' * (batch > 1)}", partial(decode_size, size, batch))
        for size in DECODED
        for batch in BATCHES
    ]
    return [cases[0], BenchmarkCase(f"{cases[0].name}, kernels", partial(profile_step, DECODED[0])), *cases[1:]]


def profile_step(size: PublishedSize, setup: Setup) -> Values:
    """The kernels of one token of one row, compiled, that take the most time: in the records only"""
    candidate, _ = setup.memoize_one(size.size, lambda: both_for_decoding(size, setup))
    prompt, new, backend = (4, 4, "eager") if setup.tiny else (PROMPT, NEW, True)
    ids = torch.randint(3, candidate.config.vocab_size, (1, prompt), device=setup.device)
    generate_tfkit(candidate, ids, backend, new)
    return kernels_of(lambda: generate_tfkit(candidate, ids, backend, new), setup, new)


def kernels_of(run: Callable[[], Any], setup: Setup, times: int = 1) -> Values:
    """The kernels of a call that take the most time, and the sums of all: milliseconds and launches, each over `times`,
    as for a token of so many"""
    on_card = setup.device == "cuda"
    with profile(activities=[ProfilerActivity.CUDA if on_card else ProfilerActivity.CPU]) as seen:
        run()
        synchronize(setup.device)
    kind = "self_device_time_total" if on_card else "self_cpu_time_total"
    rows = sorted(
        ((getattr(e, kind) / 1e3 / times, e.count / times, e.key[:80]) for e in seen.key_averages()), reverse=True
    )
    values: Values = {"kernels": [{"ms": ms, "launches": count, "name": name} for ms, count, name in rows[:20]]}
    return values | {"kernels ms": sum(ms for ms, _, _ in rows), "launches": sum(count for _, count, _ in rows)}


def decode_size(size: PublishedSize, rows: int, setup: Setup) -> Values:
    """A decoding step on both sides, and the time that reading weights and cache once would take."""
    candidate, reference = setup.memoize_one(size.size, lambda: both_for_decoding(size, setup))
    prompt, new = (4, 4) if setup.tiny else (PROMPT, NEW)
    ids = torch.randint(3, candidate.config.vocab_size, (rows, prompt), device=setup.device)
    backend = "eager" if setup.tiny else True
    values, generators = setup.figures, {
        "compiled ms": partial(generate_tfkit, candidate, ids, backend),
        "transformers: static, compiled ms": partial(generate_transformers, reference, ids, "static"),
        "eager ms": partial(generate_tfkit, candidate, ids, False),
        "transformers: eager ms": partial(generate_transformers, reference, ids, None),
    }  # fmt: skip
    values["reading once ms"] = 1e3 * bytes_read(candidate, ids, new) / copy_rate(setup)
    for name, generator in generators.items():
        values[name] = attempt(partial(token_time, generator, new, setup), setup)
    took = values["compiled ms"]
    values["compiled / reading once"] = ratio(took, values["reading once ms"])
    values["transformers compiled / tfkit compiled"] = ratio(values["transformers: static, compiled ms"], took)
    values["tokens/s"] = ratio(1e3 * rows, took)
    return values


def both_for_decoding(size: PublishedSize, setup: Setup) -> tuple[Any, Any]:
    """The models of tfkit and of transformers in bfloat16; the LookupError in place of the latter if it has none."""
    with default_dtype(torch.bfloat16):
        candidate = size.tfkit_model(setup).eval()
        try:
            return candidate, size.transformers_model(setup).eval()
        except (LookupError, ImportError) as error:
            return candidate, error


@contextlib.contextmanager
def default_dtype(dtype: torch.dtype):
    """Models are created in this dtype: 6 billion weights in float32 would take twice the memory at first."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def generate_tfkit(model: Any, ids: Tensor, compiled: Any, new: int) -> None:
    """Greedy decoding of `new` tokens."""
    tfkit.generate(model, ids, attention_mask=torch.ones_like(ids), end_id=-1, max_new_tokens=new, compile=compiled)


def generate_transformers(model: Any, ids: Tensor, cache: str | None, new: int) -> None:
    """Greedy decoding of `new` tokens. Raises the error that stands in place of a model."""
    if isinstance(model, Exception):
        raise model
    how: dict[str, Any] = {"max_new_tokens": new, "min_new_tokens": new, "do_sample": False, "use_cache": True}
    how |= {"pad_token_id": 0, "eos_token_id": None} | ({"cache_implementation": cache} if cache else {})
    model.generate(ids, attention_mask=torch.ones_like(ids), **how)


def token_time(generate: Callable[[int], None], new: int, setup: Setup) -> float:
    """Milliseconds per token in the second half of the text: the prompt and the capturing of a CUDA graph are in both
    runs and cancel out."""
    turns, half = 1 if setup.tiny else 2, new // 2
    long, short = (seconds(lambda n=n: generate(n), setup.device, turns, 0.0, 1) for n in (new, half))  # type: ignore[misc]
    return 1e3 * max(long - short, 0.0) / (new - half)


@torch.inference_mode()
def bytes_read(model: Any, ids: Tensor, new: int) -> int:
    """Bytes that one step has to read: the decoder's weights and its cache at half of its final length."""
    weights = sum(p.numel() * p.element_size() for name, p in model.named_parameters() if is_read(model, name, p))
    if hasattr(model, "encode") and hasattr(model, "decoder"):
        start = torch.ones(len(ids), new // 2, dtype=torch.int64, device=ids.device)
        cache = model(input_ids=ids, decoder_input_ids=start, use_cache=True).cache
    else:
        cache = model(input_ids=torch.cat([ids, ids[:, : new // 2]], 1), use_cache=True, logits_to_keep=1).cache
    held = [buffer for pair in cache.cross_attention.values() for buffer in pair]
    held += [t[..., : cache.length, :] for buffer in cache.self_attention.values() for t in (buffer.k, buffer.v)]
    return weights + sum(tensor.numel() * tensor.element_size() for tensor in held)


def is_read(model: Any, name: str, parameter: Tensor) -> bool:
    """Whether a decoding step reads this parameter: the encoder and the cross-attention's key and value projections are
    read only for the prompt, and a step reads a few rows of an embedding table unless it is also the output matrix."""
    if name.startswith(("encoder.", "encode.")) or re.search(r"cross_attn\.[kv]_proj\.", name):
        return False
    table = isinstance(model.get_submodule(name.rpartition(".")[0]), nn.Embedding)
    return not table or (parameter.size(0) == model.config.vocab_size and getattr(model, "output", None) is None)


# -- grading ----------------------------------------------------------------------------------------------------------
ANSWERS = ("tests/autograder/checks/test_device.py",)
QUICK = ("attention.scaled_dot_product", "masks.decoder", "attention.multi_head", "decoding.greedy", "sparse.bigbird")


def grading(setup: Setup) -> list[BenchmarkCase]:
    """Right and wrong answers in sandboxes on the GPU, attacks, seconds per submission, a run of `tfkit.train`."""
    chosen = QUICK[:1] if setup.tiny else QUICK
    return [
        BenchmarkCase("answers in boxes", partial(run_tests, ANSWERS, ("-m", "gpu and not slow"))),
        BenchmarkCase(
            "attacks on a card", partial(run_tests, ("tests/autograder/attacks",), ("-k", "few_in_the_strongest"))
        ),
        *(BenchmarkCase(f"a submission to {name}", partial(grade_exercise, name)) for name in chosen),
        BenchmarkCase("tfkit.train, gpt2", train_text),
    ]


def grade_exercise(name: str, setup: Setup) -> Values:
    """Seconds to grade one more right answer on the device, in a process that has already graded others."""
    files = sorted(map(str, (ROOT / "course" / "units").glob(f"*/submissions/{name}/right/*.py")))
    if not files:
        raise FileNotFoundError(f"no right answers to {name} were found: run this from a clone of the repository")

    def took(count: int) -> float:
        command = [sys.executable, "-m", "autograder", "check", name, *(files * count)[:count]]
        began = time.perf_counter()
        done = subprocess.run([*command, "--device", setup.device, "--json"], capture_output=True, text=True)
        if done.returncode != 0 or done.stdout.count('"passed"') < count:
            raise RuntimeError(f"not passed on {setup.device}: {(done.stderr or done.stdout)[-160:]}")
        return time.perf_counter() - began

    many = 3 if setup.tiny else 11
    return {"measured": (took(many) - took(1)) / (many - 1), "unit": "s a submission, warm"}


def train_text(setup: Setup) -> Values:
    """Runs `python -m tfkit.train` on the text of the documentation -> its closing lines"""
    steps, sizes = (3, ("d_model=32", "n_layers=2", "n_heads=2")) if setup.tiny else (200, ())
    text = sorted(map(str, (ROOT / "docs").rglob("*.md")))
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "tfkit.train", "gpt2", "--text", *text, "--out", out, "--steps", str(steps)]
        command += ["--precision", "bfloat16", "--vocabulary", "500", "--length", "64" if setup.tiny else "512"]
        command += ["--set", *sizes] if sizes else []
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip()[-160:])
    mfu_lines = [line for line in done.stdout.splitlines() if "MFU" in line]
    return {"measured": mfu_lines[-1].strip() if mfu_lines else done.stdout.strip()[-160:], "unit": ""}
