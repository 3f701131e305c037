"""How far each architecture is from transformers' on the same weights: `python -m tools.website.parity [NAME …]`.

Both models get the random weights and the inputs of the benchmark (`bench.models`), in float32. The largest
differences of logits, loss and gradients are stored in `docs/parity.json`, from which the zoo's pages show them.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from bench import models as bench
from bench.rows import BERT, ROWS, BenchmarkRow
from tfkit import registry
from tfkit.namemap import map_of
from tfkit_course.command_line import make_parser
from tools.website import DOCS

FILE = DOCS / "parity.json"
HALF = {**BERT, "is_decoder": True}  # timed as a part of encoder_decoder
DROPOUTS = ("hidden_dropout_prob", "local_attention_probs_dropout_prob", "lsh_attention_probs_dropout_prob")
TRAINED = {"reformer": dict.fromkeys(DROPOUTS, 0.0)}  # transformers' reversible layers have gradients only in training
EVERY = [*ROWS, BenchmarkRow("bert_generation", "BertGenerationConfig", "BertGenerationDecoder", HALF)]
WITHOUT = {  # architecture -> why there is nothing to compare with
    "rnn_seq2seq": "transformers has no recurrent networks.",
    "transformer": "transformers does not have the model of 2017.",
    "gpt3": "No weights of GPT-3 are published, and transformers does not have it.",
    "llada": "transformers does not have it; the tests compare it with transformers' Llama, whose mask hides nothing.",
    "transformer_xl": "transformers no longer has it; the tests compare with outputs of the version that had it.",
    "xlm_prophetnet": "transformers no longer has it; the tests compare with outputs of the version that had it.",
    "mmbt": "transformers no longer has it; the tests compare with outputs of the version that had it.",
    "dpr": "It is made of BERT, whose page has the figures; the tests compare the whole with transformers' DPR.",
    "rag": "It is made of BERT and BART, whose pages have the figures; the tests compare it with transformers' RAG.",
}


@dataclass(frozen=True)
class Parity:
    """The largest differences between the two models, and the largest number that was compared.

    model: the class of transformers; shape: of the logits; gradients: relative to the largest entry of all of them;
    compared, parameters: how many parameters have a gradient, and of how many.
    """

    model: str
    shape: list[int]
    largest: float
    logits: float
    loss: float
    gradients: float
    compared: int
    parameters: int


def measure(row: BenchmarkRow) -> Parity:
    """Both models of a row on its shortest inputs, one sequence."""
    row = replace(row, sequences=1, fields=row.fields | TRAINED.get(row.name, {}))
    with tempfile.TemporaryDirectory() as folder:
        reference, candidate = bench.pair(row, folder, "cpu")
    if row.name in TRAINED:
        reference.train()
        candidate.train()
    given = bench.make_inputs(row, row.lengths[0], "cpu")
    expected, found = reference(**given), candidate(**given)
    expected.loss.backward()
    found.loss.backward()
    named = _in_transformers_names(row.name, reference, candidate)
    pairs = [(one.grad, named[name]) for name, one in reference.named_parameters() if name in named]
    scores, wanted = bench.logits_of(found), bench.logits_of(expected)
    return Parity(
        model=row.model,
        shape=list(scores.shape),
        largest=_round(wanted.abs().max()),
        logits=_round((wanted - scores).abs().max()),
        loss=_round((expected.loss - found.loss).abs()),
        gradients=_round(torch.stack([(one - two).abs().max() for one, two in pairs]).max() / _largest(reference)),
        compared=len(pairs),
        parameters=len(list(reference.parameters())),
    )


def _in_transformers_names(name: str, reference: Any, candidate: nn.Module) -> dict[str, Tensor]:
    """Our gradients under the names of their parameters: written like weights, which transformers' own loader reads."""
    grads = {key: one.grad for key, one in candidate.named_parameters() if one.grad is not None}
    dumped = map_of(candidate, registry.load(name).HF).dump(grads, with_head=True)
    with tempfile.TemporaryDirectory() as folder:
        save_file({key: one.contiguous().clone() for key, one in dumped.items()}, Path(folder) / "model.safetensors")
        reference.config.save_pretrained(folder)
        read, loading_info = type(reference).from_pretrained(folder, output_loading_info=True)
    had = {key for key, one in reference.named_parameters() if one.grad is not None} - set(loading_info["missing_keys"])
    return {key: one.data for key, one in read.named_parameters() if key in had}


def _largest(model: nn.Module) -> Tensor:
    """The largest entry of all gradients: that of a key's bias is zero but for rounding, so none is its own measure."""
    return torch.stack([one.grad.abs().max() for one in model.parameters() if one.grad is not None]).max()


def _round(value: Tensor) -> float:
    return float(f"{value.item():.2g}")


def load() -> dict[str, Any]:
    """What was stored: `torch` and `transformers`, their versions, and `rows`, architecture -> fields of Parity."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def section(name: str, kept: Mapping[str, Any]) -> str:
    """The section of an architecture's page, in Markdown."""
    if name in WITHOUT:
        return WITHOUT[name]
    if name not in kept["rows"]:
        return f"Not measured yet: `python -m tools.website.parity {name}` does, once `bench/rows.py` has a row for it."
    row = Parity(**kept["rows"][name])
    batch = "×".join(map(str, row.shape))
    part = (
        ""
        if row.compared == row.parameters
        else f", of the {row.compared} of {row.parameters} parameters that have one"
    )
    above = " A ReLU whose input is zero but for rounding is on in one of the two: hence the gradients."
    return (
        f"The same random weights in `{row.model}` of transformers {kept['transformers']} and here, float32, in which "
        f"sums taken in another order differ in the last digits.{above if row.gradients > 1e-4 else ''}\n\n"
        "| | largest difference |\n|---|---|\n"
        f"| {batch} logits, up to {row.largest:g} | {_format(row.logits)} |\n"
        f"| loss | {_format(row.loss)} |\n"
        f"| gradients, relative to the largest entry{part} | {_format(row.gradients)} |"
    )


def _format(value: float) -> str:
    return f"{value:.1e}" if value else "0"


def main(arguments: list[str] | None = None) -> None:
    """Measure the named architectures, or all, and store what was found."""
    import transformers

    parser = make_parser("tools.website.parity", (__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="architectures; by default all")
    names = parser.parse_args(arguments).names
    rows = {row.name: row for row in EVERY}
    if unknown := [name for name in names if name not in rows]:
        parser.error(f"there is no row for {', '.join(unknown)}; there are {', '.join(rows)}")
    kept = load()["rows"] if names else {}
    for name in names or rows:
        kept[name] = asdict(measure(rows[name]))
        print(name, kept[name], flush=True)
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    FILE.write_text(json.dumps({**versions, "rows": kept}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
