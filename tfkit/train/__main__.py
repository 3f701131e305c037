"""`python -m tfkit.train`: any language model of the zoo on any text, by its objective; alone, or under torchrun.

    python -m tfkit.train gpt2 --text books/*.txt --set d_model=128 n_layers=4 n_heads=4 --steps 500 --out runs/gpt2
    torchrun --nproc-per-node 2 -m tfkit.train …the same… --parallel fsdp

What is in `--out` already is gone on from: the tokenizer, the packed rows, the state of training.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import tfkit
from tfkit.objectives.causal_lm import CausalLM
from tfkit.objectives.denoising import Denoising
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.objectives.permutation_lm import PermutationLM
from tfkit.objectives.span_corruption import SpanCorruption
from tfkit.text import vocabulary
from tfkit.train.blocks import Blocks, write_rows
from tfkit.train.loop import DivergedError, fit
from tfkit.train.recompute import recompute
from tfkit.train.schedules import linear_rate
from tfkit.train.world import World

SENTINELS = 32
Words = vocabulary.Tokenizer
# objective -> (the head it trains, how it is made for a vocabulary)
OBJECTIVES: dict[str, tuple[str, Callable[[Words], Any]]] = {
    "causal_lm": ("causal_lm", lambda words: CausalLM()),
    "masked_lm": ("masked_lm", lambda words: MaskedLM(words.mask_id or 0, len(words))),
    "permutation_lm": ("masked_lm", lambda words: PermutationLM()),
    "span_corruption": (
        "seq2seq_lm",
        lambda words: SpanCorruption(len(words) - 1, words.end_id or 0, words.pad_id or 0),
    ),
    "denoising": ("seq2seq_lm", lambda words: Denoising(words.mask_id or 0, words.pad_id or 0)),
}
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line, read. Raises SystemExit where it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tfkit.train", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("name", help="an architecture, or a published size by its own name")
    parser.add_argument("--text", type=Path, nargs="+", required=True, help="files; each is a document")
    parser.add_argument("--out", type=Path, required=True, help="folder for everything that is made")
    parser.add_argument("--objective", choices=OBJECTIVES, default="causal_lm")
    parser.add_argument("--set", nargs="*", default=[], metavar="FIELD=VALUE", help="fields of its Config")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json; without it one is learned from the text")
    parser.add_argument("--kind", choices=vocabulary.KINDS, default="byte_bpe")
    parser.add_argument("--vocabulary", type=int, default=2000, help="symbols to learn")
    parser.add_argument("--length", type=int, default=128, help="tokens in a row")
    parser.add_argument("--batch", type=int, default=16, help="rows in a batch, over all processes")
    parser.add_argument("--accumulate", type=int, default=1, help="batches in a step")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--peak", type=float, default=1e-3, help="the highest learning rate")
    parser.add_argument("--warmup", type=int, default=50)
    parser.add_argument("--precision", choices=PRECISIONS, default="float32")
    parser.add_argument("--recompute", action="store_true", help="keep one layer's activations at a time")
    parser.add_argument("--average", type=float, metavar="DECAY", help="keep a moving average of the weights as well")
    parser.add_argument("--parallel", choices=("ddp", "fsdp"), default="ddp", help="with several processes")
    parser.add_argument("--save-every", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def prepare(given: argparse.Namespace, world: World) -> Words:
    """The tokenizer and the packed rows; the first process makes what is not there."""
    tokenizer, rows = given.out / "tokenizer.json", given.out / "rows.npy"
    if world.rank == 0 and not rows.exists():
        texts = [file.read_text(encoding="utf-8") for file in given.text]
        extra = [f"<extra_{i}>" for i in reversed(range(SENTINELS))] if given.objective == "span_corruption" else []
        lines = (line for text in texts for line in text.splitlines())
        words = (
            Words.load(given.tokenizer) if given.tokenizer
            else vocabulary.train(given.kind, lines, given.vocabulary, extra)
        )  # fmt: skip
        words.save(tokenizer)
        write_rows(rows, words.encode(texts, specials=False), given.length, words.end_id or 0)
    world.wait()
    return Words.load(tokenizer)


def make(given: argparse.Namespace, words: Words) -> nn.Module:
    """The model, of the tokenizer's size. Raises ValueError for a setting that is no FIELD=VALUE."""
    asked = dict(map(setting, given.set))
    fields = {"vocab_size": len(words), "pad_token_id": words.pad_id, "decoder_start_token_id": words.start_id}
    fields |= {"bos_token_id": words.start_id, "eos_token_id": words.end_id}
    known = tfkit.registry.resolve(given.name)[0].Config.__dataclass_fields__
    torch.manual_seed(given.seed)
    return tfkit.from_config(
        given.name, OBJECTIVES[given.objective][0], **{k: v for k, v in fields.items() if k in known} | asked
    )


def setting(text: str) -> tuple[str, Any]:
    """FIELD=VALUE -> the field, and its value: a number, a tuple, True …; what is none of those is a string."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text}: write FIELD=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def run(given: argparse.Namespace, world: World) -> None:
    """Trains, and leaves model/ for `tfkit.from_pretrained` (of the average, if one is kept)."""
    words = prepare(given, world)
    model = make(given, words)
    if given.recompute:
        recompute(model)
    average = None
    if given.average is not None:
        average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(given.average))
        if given.parallel == "fsdp":
            average.module = world.spread(average.module, "fsdp")  # type: ignore[assignment]
    spread = world.spread(model, given.parallel)
    special = [i for i in (words.pad_id, words.start_id, words.end_id) if i is not None]
    batches = Blocks(given.out / "rows.npy", OBJECTIVES[given.objective][1](words), given.batch, special, world)
    history = fit(
        spread, batches, lambda net, batch: net(**batch).loss, steps=given.steps, accumulate=given.accumulate,
        rate=lambda step: linear_rate(step, given.peak, given.warmup, given.steps + 1), seed=given.seed, world=world,
        precision=PRECISIONS[given.precision], average=average, log=given.out, save_every=given.save_every,
        checkpoint=given.out / ("state.safetensors" if world.size == 1 else "state"),
    )  # fmt: skip
    leave(model, spread, average, given, world)
    if world.rank == 0 and history.losses:
        print(f"step {history.steps}: loss {history.losses[-1]:.4f}; everything is in {given.out}")


def leave(
    model: nn.Module, spread: nn.Module, average: nn.Module | None, given: argparse.Namespace, world: World
) -> None:
    """Writes the weights, gathered from all processes, as a published checkpoint."""
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

    whole = StateDictOptions(full_state_dict=True, cpu_offload=True)
    source = spread if average is None else average.module  # type: ignore[union-attr]
    state = get_model_state_dict(source, options=whole)  # type: ignore[arg-type]
    config: Any = model.config
    if world.rank == 0:
        final = tfkit.from_config(given.name, str(model.head), **asdict(config))
        final.load_state_dict(state)
        final.save_pretrained(given.out / "model")
    world.wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 2 for a request that cannot be met, 1 for a loss that is not a number."""
    given = options(arguments)
    world = World.join()
    try:
        run(given, world)
    except (ValueError, LookupError, TypeError, OSError) as error:
        print(f"tfkit.train: {error}", file=sys.stderr)
        return 2
    except DivergedError as error:
        print(f"tfkit.train: {error}", file=sys.stderr)
        return 1
    finally:
        world.leave()
    return 0


if __name__ == "__main__":
    sys.exit(main())
