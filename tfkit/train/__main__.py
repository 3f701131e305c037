"""`python -m tfkit.train`: any language model of the zoo on any text, by its objective; alone, or under torchrun.

    python -m tfkit.train gpt2 --text books/*.txt --set d_model=128 n_layers=4 n_heads=4 --steps 500 --out runs/gpt2
    torchrun --nproc-per-node 2 -m tfkit.train …the same… --parallel fsdp

A run resumes from what is already in `--out`: the tokenizer, the packed rows, the state of training. It is an error if
these were made from another text, or with another tokenizer, length or objective.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import tfkit
from tfkit.hub.loading import shapes_only
from tfkit.nn import onednn
from tfkit.nn.experts import stack_experts
from tfkit.nn.flex import separate_texts
from tfkit.objectives import trainable
from tfkit.objectives.chunked_cross_entropy import chunked_logits
from tfkit.text import vocabulary
from tfkit.text.vocabulary import Tokenizer
from tfkit.train.activation_checkpointing import KINDS, checkpoint_activations
from tfkit.train.loop import DivergedError, fit
from tfkit.train.packed_dataset import PackedDataset, positions_in_texts
from tfkit.train.prepare import objective, prepare
from tfkit.train.process_group import ProcessGroup, layers
from tfkit.train.schedules import linear_rate
from tfkit.train.throughput import operations_per_token, peak_memory, product_rate
from tfkit_course.command_line import make_parser, number

SEPARABLE = ("causal_lm", "masked_lm")  # objectives whose rows are as long as those of the text
PRECISIONS = {"float32": torch.float32, "tf32": torch.float32, "bfloat16": torch.bfloat16}

COUNT, AMOUNT = number(int, 1), number(int, 0)


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parses the command line. Raises SystemExit for a wrong one."""
    parser = make_parser(
        "tfkit.train",
        """
        Train any language model of the zoo on any text, by its objective; alone, or under torchrun. A run resumes from
        what is already in --out.
        """,
        examples=(
            "python -m tfkit.train gpt2 --text books/*.txt --steps 500 --out runs/gpt2",
            "torchrun --nproc-per-node 2 -m tfkit.train … --parallel fsdp",
        ),
    )
    parser.add_argument("name", help="an architecture, or the name of a published size")
    parser.add_argument("--text", type=Path, nargs="+", required=True, help="text files, one document each")
    parser.add_argument("--out", type=Path, required=True, help="output folder")
    parser.add_argument(
        "--objective",
        choices=trainable(),
        default="causal_lm",
        metavar="NAME",
        help=f"the training objective: {', '.join(trainable())} (default: %(default)s)",
    )
    parser.add_argument(
        "--set", nargs="*", default=[], metavar="FIELD=VALUE", help="fields of the architecture's Config"
    )
    parser.add_argument(
        "--tokenizer", type=Path, help="a tokenizer.json; by default a tokenizer is trained on the text"
    )
    parser.add_argument(
        "--kind", choices=vocabulary.KINDS, default="byte_bpe", help="kind of tokenizer to train (default: %(default)s)"
    )
    parser.add_argument("--vocabulary", type=COUNT, default=2000, help="size of the vocabulary to learn")
    _add_schedule_options(parser)
    _add_machine_options(parser)
    return parser.parse_args(arguments)


def _add_schedule_options(parser: argparse.ArgumentParser) -> None:
    """How much is trained, and how fast the weights change."""
    parser.add_argument("--length", type=COUNT, default=128, help="tokens per row")
    parser.add_argument("--batch", type=COUNT, default=16, help="rows per batch, over all processes")
    parser.add_argument(
        "--accumulate", type=COUNT, default=1, help="batches per optimizer step (gradient accumulation)"
    )
    parser.add_argument("--steps", type=COUNT, default=500, help="optimizer steps (default: %(default)s)")
    parser.add_argument("--peak", type=number(float, 0.0), default=1e-3, help="the highest learning rate")
    parser.add_argument(
        "--warmup", type=AMOUNT, default=50, help="steps over which the learning rate rises (default: %(default)s)"
    )
    parser.add_argument(
        "--separate-texts", action="store_true", help="texts packed into one row do not attend to each other"
    )
    parser.add_argument(
        "--average",
        type=number(float, 0.0, 1.0),
        metavar="DECAY",
        help="also keep an exponential moving average of the weights",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of weights, batches and dropout (default: %(default)s)"
    )


def _add_machine_options(parser: argparse.ArgumentParser) -> None:
    """How the machine is used: precision, compilation, memory, processes, checkpoints."""
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        default="float32",
        help="precision of matrix products; tf32 is for GPUs",
    )
    parser.add_argument("--compile", action="store_true", help="compile each layer with torch.compile")
    parser.add_argument(
        "--onednn",
        action="store_true",
        help="on a CPU: float32 matrix products by oneDNN, which is faster than MKL on some processors",
    )
    parser.add_argument(
        "--logits",
        type=AMOUNT,
        metavar="ROWS",
        help="positions whose logits the loss holds at once; 0: all; by default what fits in 128 MiB",
    )
    parser.add_argument(
        "--recompute",
        nargs="?",
        const="layers",
        choices=KINDS,
        help="activation checkpointing, layer by layer; selective: keep matrix products of all layers",
    )
    parser.add_argument(
        "--parallel", choices=("ddp", "fsdp"), default="ddp", help="data parallelism for several processes"
    )
    parser.add_argument(
        "--save-every", type=COUNT, default=100, help="steps between checkpoints (default: %(default)s)"
    )


def make(given: argparse.Namespace, symbols: dict[str, int | None]) -> nn.Module:
    """The model for a vocabulary. Raises ValueError for a setting that is not FIELD=VALUE."""
    known = tfkit.registry.resolve(given.name)[0].Config.__dataclass_fields__
    fields = {k: v for k, v in symbols.items() if k in known} | dict(map(setting, given.set))
    torch.manual_seed(given.seed)
    return tfkit.from_config(given.name, trainable()[given.objective].HEAD, **fields)


def symbols(words: Tokenizer) -> dict[str, int | None]:
    """The fields of a model's Config that depend on the vocabulary."""
    start, end = words.start_id, words.end_id
    ids = {"pad_token_id": words.pad_id, "decoder_start_token_id": start, "bos_token_id": start, "eos_token_id": end}
    return {"vocab_size": len(words), **ids, "mask_token_id": words.mask_id}


def check(given: argparse.Namespace, process_group: ProcessGroup) -> None:
    """Checks the arguments as far as possible before the first text is read. Raises the errors that `main` reports."""
    if given.parallel == "fsdp" and process_group.size == 1:
        raise ValueError("--parallel fsdp needs several processes: start it with torchrun")
    if given.batch % process_group.size:
        raise ValueError(f"--batch {given.batch} cannot be shared evenly by {process_group.size} processes")
    if given.separate_texts and (given.objective not in SEPARABLE or given.compile):
        raise ValueError(f"--separate-texts: with --objective {' or '.join(SEPARABLE)}, and without --compile")
    if given.onednn and (process_group.device.type != "cpu" or given.compile or given.precision != "float32"):
        raise ValueError("--onednn: on a CPU, with --precision float32, and without --compile")
    if given.onednn and not onednn.is_available():
        raise ValueError("--onednn: this build of PyTorch has no oneDNN")
    with shapes_only():
        config: Any = make(given, {"vocab_size": given.vocabulary, "mask_token_id": 0}).config
    if getattr(config, "max_length", given.length) < given.length:
        raise ValueError(f"--length {given.length} is more than the model's max_length, {config.max_length}")
    for file in (*given.text, *([given.tokenizer] if given.tokenizer else [])):
        if not file.is_file():
            raise FileNotFoundError(f"{file}: not found, or not a file")


def setting(text: str) -> tuple[str, Any]:
    """FIELD=VALUE -> the field and its value: a number, a tuple, True …, or else a string."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text}: write FIELD=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def run(given: argparse.Namespace, process_group: ProcessGroup) -> None:
    """Trains, and writes the model with its tokenizer to model/ for `from_pretrained` (averaged weights, if kept)."""
    check(given, process_group)
    words = prepare(given, process_group)
    goal, model = objective(given, words), make(given, symbols(words))
    if given.precision == "tf32":
        torch.set_float32_matmul_precision("high")
    if given.recompute:
        checkpoint_activations(model, given.recompute)
    average = None
    if given.average is not None:
        average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(given.average))
        if given.parallel == "fsdp":
            average.module = process_group.parallelize(average.module, "fsdp")
    spread = process_group.parallelize(model, given.parallel)
    stack_experts(model)
    special = [i for i in (words.pad_id, words.start_id, words.end_id) if i is not None]
    end = words.end_id if given.separate_texts else None
    batches = PackedDataset(given.out / "rows.npy", goal, given.batch, special, process_group, end)
    first = next(iter(batches(torch.Generator())))
    if first.pop("texts", None) is not None:
        require_separate_texts(model, first["input_ids"], given.name)
    throughput = Throughput(model, first, given, process_group)
    if given.compile:
        for layer in layers(model):
            layer.compile()
    with products_of(given):
        history = fit(
            spread, batches, model_loss(given.logits), steps=given.steps, accumulate=given.accumulate,
            rate=lambda step: linear_rate(step, given.peak, given.warmup, given.steps + 1), seed=given.seed,
            process_group=process_group, fused=process_group.size == 1,
            precision=PRECISIONS[given.precision], average=average, log=given.out, save_every=given.save_every,
            checkpoint=given.out / ("state.safetensors" if process_group.size == 1 else "state"),
        )  # fmt: skip
    save_outputs(model, spread, average, given, process_group)
    if process_group.rank == 0:
        words.save_pretrained(given.out / "model")
    if process_group.rank == 0 and history.losses:
        print(f"step {history.steps}: loss {history.losses[-1]:.4f}; everything is in {given.out}")
        print(throughput.line(history.tokens_per_second))


def products_of(given: argparse.Namespace) -> AbstractContextManager[None]:
    """The context in which a run multiplies matrices: by oneDNN if asked for."""
    return onednn.onednn_products() if given.onednn else nullcontext()


def model_loss(rows: int | None) -> Callable[[nn.Module, Any], Tensor]:
    """The model's own loss. rows: the number of rows of logits held at once; 0: all; None: as many as fit."""

    def loss(model: nn.Module, batch: Any) -> Tensor:
        with nullcontext() if rows == 0 else chunked_logits(rows or 0):
            found: Tensor = forward_packed(model, batch).loss
        return found

    return loss


class PackedOutput(Protocol):
    """What training reads of a model's output."""

    loss: Tensor
    logits: Tensor


def forward_packed(model: nn.Module, batch: dict[str, Tensor]) -> PackedOutput:
    """model(**batch); if the batch has `texts`, each text is computed separately, with its own positions if the model
    takes positions."""
    texts = batch.get("texts")
    out: PackedOutput
    if texts is None:
        out = model(**batch)
        return out
    given = {name: value for name, value in batch.items() if name != "texts"}
    inner = getattr(model, "module", model)  # under DDP
    if getattr(inner, "head", None) == "causal_lm" and "position_ids" in inspect.signature(inner.forward).parameters:
        given["position_ids"] = positions_in_texts(texts)
    with separate_texts(texts):
        out = model(**given)
    return out


@torch.no_grad()
def require_separate_texts(model: nn.Module, ids: Tensor, name: str) -> None:
    """Raises ValueError for a model in which one text in a row influences another."""
    training, ids = model.training, ids[:1].to(next(model.parameters()).device)
    texts = (torch.arange(ids.size(1), device=ids.device) >= ids.size(1) // 2).long()[None]
    other = torch.where(texts == 0, ids.flip(1), ids)
    model.eval()
    one, two = (forward_packed(model, {"input_ids": x, "texts": texts}).logits[texts == 1] for x in (ids, other))
    model.train(training)
    if not torch.allclose(one, two, atol=1e-4):
        raise ValueError(f"--separate-texts: {name} has more than plain attention, through which texts of a row mix")


class Throughput:
    """The speed of a run: tokens per second, their share of the rate of matrix products alone, and memory."""

    def __init__(
        self, model: nn.Module, batch: dict[str, Tensor], given: argparse.Namespace, process_group: ProcessGroup
    ):
        self.device, self.operations = process_group.device, 0.0
        if given.parallel == "ddp" or process_group.size == 1:  # under FSDP no process has the whole model
            self.operations = operations_per_token(model, batch)
            dtype = PRECISIONS[given.precision]
            with products_of(given):
                self.most = process_group.size * product_rate(self.device, dtype)

    def line(self, tokens_per_second: float) -> str:
        """The figures as one line of text."""
        parts = [f"{tokens_per_second:,.0f} tokens/s"]
        if self.operations:
            share = tokens_per_second * self.operations / self.most
            parts.append(f"MFU {share:.1%} of {self.most / 1e12:,.3g} TFLOP/s, the rate of products")
        if memory := peak_memory(self.device):
            parts.append(f"{memory / 1e9:.2f} GB at most")
        return " · ".join(parts)


def save_outputs(
    model: nn.Module,
    spread: nn.Module,
    average: nn.Module | None,
    given: argparse.Namespace,
    process_group: ProcessGroup,
) -> None:
    """Writes the weights, gathered from all processes, as a published checkpoint."""
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

    whole = StateDictOptions(full_state_dict=True, cpu_offload=True)
    source = spread if average is None else average.module
    state = get_model_state_dict(source, options=whole)  # type: ignore[arg-type]
    config: Any = model.config
    if process_group.rank == 0:
        final = tfkit.from_config(given.name, str(model.head), **asdict(config))
        final.load_state_dict(state)
        final.save_pretrained(given.out / "model")
    process_group.barrier()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns 2 for an impossible request, 1 for a loss that is not finite."""
    given = options(arguments)
    process_group = ProcessGroup.initialize()
    try:
        run(given, process_group)
    except (ValueError, LookupError, TypeError, OSError) as error:
        print(f"tfkit.train: {error}", file=sys.stderr)
        return 2
    except DivergedError as error:
        print(f"tfkit.train: {error}", file=sys.stderr)
        return 1
    finally:
        process_group.destroy()
    return 0


if __name__ == "__main__":
    sys.exit(main())
