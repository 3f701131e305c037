"""One case: transformers' model with random weights, written to files, read by tfkit, and both compared: outputs,
losses, states, attention weights, gradients; then saved by tfkit, and read by transformers again."""

from __future__ import annotations

import warnings
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

import tfkit
from tests.fuzz_models.inputs import Case
from tests.models.conftest import shake

AGREE, DIFFER, CRASH, REFUSED, THEIRS = "agree", "differ", "crash", "refused by tfkit", "refused by transformers"
TOLERANCE = {
    torch.float32: 5e-5,
    torch.float64: 5e-6,
}  # relative to the largest number; transformers upcasts to float32
NOT_COMPARED = {"past_key_values", "cache", "mems", "cache_params", "past_buckets_states"}
NO_WEIGHTS = {"longformer", "reformer"}  # see decision 12
SINUSOIDS = {"marian", "pegasus", "m2m_100"}
NO_GRADIENTS = {"reformer"}  # transformers computes them in training mode only, where it draws hashes anew


@dataclass
class Outcome:
    """What came of a case: one of the five words, and what differs or why."""

    kind: str
    what: list[str] = field(default_factory=list)


class Refused(Exception):
    """transformers does not run the case."""


def run(case: Case) -> Outcome:
    """Compares one case, quietly."""
    with warnings.catch_warnings(), redirect_stderr(StringIO()), TemporaryDirectory() as place:
        warnings.simplefilter("ignore")
        try:
            theirs = write(case, Path(place))
            expected = call(theirs, case)
        except Exception as error:  # whatever it is, transformers raises it
            return Outcome(THEIRS, [one_line(error)])
        if not all(bool(t.isfinite().all()) for _, t in tensors(expected) if t.is_floating_point()):
            return Outcome(THEIRS, ["its outputs are not finite"])
        try:
            ours = tfkit.from_pretrained(place, dtype=case.dtype)
            found = call(ours, case)
        except (ValueError, TypeError) as error:
            return Outcome(REFUSED if "\n" not in str(error) else CRASH, [one_line(error)])
        except Exception as error:
            return Outcome(CRASH, [f"{type(error).__name__}: {one_line(error)}"])
        what = outputs_that_differ(case, found, expected) + gradients_that_differ(case, ours, theirs, found, expected)
        what += files_that_differ(case, ours, theirs)
        return Outcome(DIFFER if what else AGREE, what)


def one_line(error: Exception) -> str:
    """The beginning of an error's message."""
    return " ".join(str(error).split())[:160] or type(error).__name__


def write(case: Case, place: Path) -> Any:
    """transformers' model, whose files are in `place`."""
    import transformers

    kind = getattr(transformers, case.cls)
    torch.manual_seed(case.seed)
    drawn = kind._from_config(kind.config_class(**case.fields), dtype=case.dtype)
    has_sinusoids = case.arch in SINUSOIDS
    fixed = {n: p.clone() for n, p in drawn.named_parameters() if has_sinusoids and "embed_positions" in n}
    shake(drawn).load_state_dict(fixed, strict=False)
    if case.arch == "funnel":  # transformers 5 sets this row to zero whenever it reads a file
        drawn.get_input_embeddings().weight.data[case.fields["pad_token_id"]] = 0
    if case.arch == "reformer" and hasattr(drawn, "lm_head"):  # transformers 5 does not add it
        drawn.lm_head.bias.data.zero_()
    drawn.save_pretrained(place, **({"max_shard_size": "4KB"} if case.form == "shards" else {}))
    implementations = {"attn_implementation": "eager", "experts_implementation": "eager"}
    theirs = kind.from_pretrained(place, dtype=case.dtype, **implementations)  # as it reads its own files
    if case.form == "bin":
        file = place / "model.safetensors"
        torch.save(load_file(file), place / "pytorch_model.bin")
        file.unlink()
    return theirs.eval()


def call(model: Any, case: Case) -> dict[str, Any]:
    """The outputs by name, with gradients."""
    asked: dict[str, Any] = {"output_hidden_states": True}
    asked |= {} if case.arch in NO_WEIGHTS else {"output_attentions": True}
    return dict(model(**case.given, **asked).items())


def tensors(out: dict[str, Any]) -> list[tuple[str, Tensor]]:
    """Each tensor of an output with its name; of tuples, each entry."""
    found: list[tuple[str, Tensor]] = []
    for name, value in out.items():
        if name in NOT_COMPARED:
            continue
        if isinstance(value, Tensor):
            found.append((name, value))
        elif isinstance(value, tuple | list):
            found += [(f"{name}[{i}]", one) for i, one in enumerate(value) if isinstance(one, Tensor)]
        elif name.endswith("_model_output"):
            found += [(f"{name}.{inner}", one) for inner, one in tensors(dict(value))]
    return found


def real(case: Case, name: str, tensor: Tensor) -> Tensor:
    """The tensor without what stands for padding: of [B,L,…] the rows of words, of weights [B,H,L,K] those queries."""
    if case.mask is None or tensor.dim() < 2:
        return tensor
    if "attentions" in name and tensor.dim() == 4:
        tensor = tensor.transpose(1, 2)
    if tensor.dim() > 3 and tensor.shape[:2].numel() == len(case.mask) and tensor.size(2) == case.mask.size(1):
        tensor = tensor.flatten(0, 1)  # [B,C,L,…]
    return tensor[case.mask] if tensor.shape[:2] == case.mask.shape else tensor


def error(a: Tensor, b: Tensor) -> float:
    """The largest difference, relative to the largest number if that is above one."""
    if not b.numel():
        return 0.0
    return float((a.double() - b.double()).abs().max() / b.double().abs().max().clamp(min=1))


def outputs_that_differ(case: Case, found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """The names of outputs that are missing, or of another shape or value."""
    ours, what = dict(tensors(found)), []
    names = {"prediction_scores": "logits"}
    for name, b in tensors(expected):
        a = ours.get(name, ours.get(names.get(name, "")))
        if a is None:
            what.append(f"{name} is missing")
        elif a.shape != b.shape:
            what.append(f"{name} has shape {list(a.shape)} for {list(b.shape)}")
        elif not (off := error(real(case, name, a), real(case, name, b))) <= TOLERANCE[case.dtype]:
            what.append(f"{name} is {off:.1e} off")
    return what


def target(case: Case, out: dict[str, Any]) -> Tensor:
    """What gradients are taken of: the loss, or a sum in which each number has a weight of its own."""
    if out.get("loss") is not None:
        return out["loss"].sum()
    name, first = tensors(out)[0]
    words = real(case, name, first)
    return (words * torch.arange(words.numel(), dtype=words.dtype).view_as(words).cos()).sum()


def gradients_that_differ(
    case: Case, ours: Any, theirs: Any, found: dict[str, Any], expected: dict[str, Any]
) -> list[str]:
    """The names of parameters whose gradients differ."""
    if case.arch in NO_GRADIENTS:
        return []
    target(case, expected).backward()
    target(case, found).backward()
    if not all(p.grad is None or bool(p.grad.isfinite().all()) for p in theirs.parameters()):
        return []  # transformers' are NaN where a query at padding sees nothing
    theirs_by_our_names = gradients_as_weights(case, theirs)
    what = []
    for name, parameter in ours.named_parameters():
        grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        if not (off := error(grad, theirs_by_our_names[name])) <= 10 * TOLERANCE[case.dtype]:
            what.append(f"gradient of {name} is {off:.1e} off")
    return what


def gradients_as_weights(case: Case, theirs: Any) -> dict[str, Tensor]:
    """transformers' gradients under tfkit's names: they are written to a file in place of the weights."""
    weights = {name: parameter.data for name, parameter in theirs.named_parameters()}
    for name, parameter in theirs.named_parameters():
        if not (case.arch in SINUSOIDS and "embed_positions" in name):  # which tfkit checks when it reads them
            parameter.data = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    with TemporaryDirectory() as place:
        theirs.save_pretrained(place)
        found = dict(tfkit.from_pretrained(place, dtype=case.dtype).named_parameters())
    for name, parameter in theirs.named_parameters():
        parameter.data = weights[name]
    return found


def files_that_differ(case: Case, ours: Any, theirs: Any) -> list[str]:
    """What transformers reads otherwise from the files that tfkit writes: weights, or fields that were drawn."""
    with TemporaryDirectory() as place:
        ours.save_pretrained(place, **({"max_shard_size": 4096} if case.form == "shards" else {}))
        again, report = type(theirs).from_pretrained(place, dtype=case.dtype, output_loading_info=True)
    what = [f"saved: {kind} {name}" for kind in ("missing_keys", "unexpected_keys") for name in report[kind]]
    weights = again.state_dict()
    what += [f"saved: {name}" for name, tensor in theirs.state_dict().items() if not torch.equal(tensor, weights[name])]
    return what + [
        f"saved: config.{name} is {getattr(again.config, name, None)!r} for {getattr(theirs.config, name)!r}"
        for name in case.fields
        if getattr(theirs.config, name, None) != getattr(again.config, name, None)
    ]
