"""`tfkit verify`: reads a checkpoint with tfkit and with the installed transformers, and compares them field by
field."""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import registry
from ..decode import Greedy, generate
from ..hub import files, from_pretrained, published

TOLERANCE = 1e-4  # relative to the largest compared number, in float32: sums are taken in another order
NEW = 12  # tokens to generate


class Comparison(NamedTuple):
    """One comparison: the finding in words, and whether it passed."""

    what: str
    found: str
    right: bool


def verify(directory: Path) -> Iterator[Comparison]:
    """The rows of the report, one by one; a failure that makes the rest impossible ends it.

    Raises ModuleNotFoundError without transformers, LookupError if it has no such class, FileNotFoundError without a
    configuration.
    """
    config_dict = files.read_config(directory)
    cls = transformers_class(config_dict)
    yield configuration(config_dict)
    try:
        candidate = from_pretrained(directory)
    except (ValueError, FileNotFoundError) as error:
        yield Comparison("tensors", str(error).removeprefix(f"{directory}/"), False)
        return
    yield finite(candidate)
    with quiet():
        reference, loading_info = cls.from_pretrained(directory, dtype=torch.float32, output_loading_info=True)
    reference.eval()
    yield loading(loading_info)
    yield tensors(candidate, reference)
    yield from numbers(candidate, reference)
    if candidate.head in ("causal_lm", "seq2seq_lm"):
        yield greedy(candidate, reference)


def transformers_class(config_dict: Mapping[str, Any]) -> Any:
    """The class of transformers that config.json names; if it names none, the base model of its model_type."""
    try:
        import transformers
    except ModuleNotFoundError:
        raise ModuleNotFoundError("transformers is not installed: pip install transformers, then try again") from None
    names = config_dict.get("architectures") or []
    if not names:
        module = registry.load(published.architecture(config_dict.get("model_type")))
        names = [next(iter(module.HF_HEADS))]
    found = getattr(transformers, names[0], None)
    if found is None:
        raise LookupError(f"transformers {transformers.__version__} has no class {names[0]}: nothing to compare with")
    return found


def configuration(config_dict: Mapping[str, Any]) -> Comparison:
    """Which fields of config.json matter, which have the only value that is implemented, and which have no effect."""
    kind = published.architecture(config_dict.get("model_type"))
    module = registry.load(kind)
    if hasattr(module, "nest_hf_fields"):  # sections, whose fields are counted one by one
        config_dict = module.from_hf_fields(dict(config_dict))
    used = [name for name in config_dict if name in getattr(module, "HF_FIELDS", {})]
    fixed = [name for name in config_dict if name in getattr(module, "HF_FIXED", {})]
    idle = [name for name in config_dict if name not in (*used, *fixed, "model_type", "architectures")]
    shown = f": {', '.join(idle)}" if idle else ""
    found = f"{kind}; {len(used)} fields understood, {len(fixed)} as implemented, {len(idle)} of no effect{shown}"
    return Comparison("configuration", found, True)


def finite(model: Any) -> Comparison:
    """Whether all weights are finite."""
    state = model.state_dict()
    bad = [name for name, tensor in state.items() if tensor.is_floating_point() and not bool(tensor.isfinite().all())]
    return Comparison(
        "weights", f"not numbers in {', '.join(bad[:4])}" if bad else f"{len(state)} tensors, all finite", not bad
    )


def loading(loading_info: Mapping[str, Any]) -> Comparison:
    """The weights that transformers reports as missing or unused."""
    wrong = {key: sorted(map(str, loading_info.get(key) or ())) for key in ("missing_keys", "mismatched_keys")}
    problems = [f"{key.removesuffix('_keys')}: {', '.join(names[:4])}" for key, names in wrong.items() if names]
    return Comparison("transformers' loading", "; ".join(problems) or "nothing missing", not problems)


def tensors(candidate: Any, reference: Any) -> Comparison:
    """Each tensor, bit for bit, after tfkit has read what transformers saved."""
    with tempfile.TemporaryDirectory() as folder, quiet():
        reference.save_pretrained(folder)
        again = from_pretrained(folder, candidate.head).state_dict()
    own = candidate.state_dict()
    other = [name for name in own if name not in again or not torch.equal(own[name], again[name])]
    found = f"{len(other)} differ: {', '.join(other[:4])}" if other else f"{len(own)} tensors, equal to the last bit"
    return Comparison("tensors", found, not other)


def numbers(candidate: Any, reference: Any) -> Iterator[Comparison]:
    """Outputs and loss on random ids, in two rows of which one is padded."""
    given = inputs(candidate)
    with torch.no_grad(), quiet():
        own, other = candidate(**given), reference(**given, output_hidden_states=True, return_dict=True)
    field = reference_field if "input_ids" in given else same_field
    found = {name: (own[name], field(name, other)) for name in own if isinstance(own[name], Tensor)}
    mask = given.get("attention_mask", torch.ones(0, 0)).bool()
    for name, (one, two) in found.items():
        if isinstance(two, Tensor):
            yield compare(name, one, two, mask)


def reference_field(name: str, other: Any) -> Any:
    """The same field of transformers' output; with a head, the last hidden state is taken from all hidden states."""
    if name != "last_hidden_state" or name in other:
        return other.get(name)
    states = other.get("decoder_hidden_states") or other.get("hidden_states")
    return states[-1] if states else None


def same_field(name: str, other: Any) -> Any:
    """The same field of transformers' output; of pictures, its last of all hidden states has not been through the last
    norm."""
    return other.get(name)


def compare(name: str, one: Tensor, two: Tensor, mask: Tensor) -> Comparison:
    """The largest difference; hidden states of padding, which nothing reads, are ignored."""
    one, two = one.float(), two.float()
    if one.shape != two.shape:
        return Comparison(name, f"{list(one.shape)} in tfkit, {list(two.shape)} in transformers", False)
    if one.dim() > 1 and one.shape[:2] == mask.shape:
        one, two = one[mask], two[mask]
    largest, difference = float(two.abs().max()), float((one - two).abs().max())
    right = math.isfinite(difference) and difference <= TOLERANCE * max(largest, 1e-6)
    found = f"{list(one.shape)}, at most {difference:.1e} apart, of {largest:.3g}"
    return Comparison(name.replace("_", " "), found, right)


def inputs(model: Any, rows: int = 2, length: int = 10) -> dict[str, Tensor]:
    """Random ids with a mask, or pictures, or both; and labels in the form that the head takes."""
    draw = torch.Generator().manual_seed(0)
    pictures = random_pictures(model, rows, draw)
    if pictures and getattr(model, "text", None) is None:
        return pictures
    size = getattr(model.config, "vocab_size", None) or model.config.decoder_vocab_size
    ids = lambda *shape: torch.randint(min(5, size - 1), size, shape, generator=draw)
    given = {"input_ids": ids(rows, length), "attention_mask": torch.ones(rows, length, dtype=torch.int64)}
    labels: dict[str | None, Callable[[], dict[str, Tensor]]] = {
        "causal_lm": lambda: {"labels": given["input_ids"]},
        "masked_lm": lambda: {"labels": ids(rows, length)},
        "seq2seq_lm": lambda: {"labels": ids(rows, length)},
        "pretraining": lambda: {"labels": ids(rows, length), "next_sentence_label": torch.tensor([0, 1])},
        "sequence_classification": lambda: {"labels": torch.zeros(rows, dtype=torch.int64)},
        "token_classification": lambda: {"labels": torch.zeros(rows, length, dtype=torch.int64)},
        "question_answering": lambda: {"start_positions": torch.tensor([1, 2]), "end_positions": torch.tensor([3, 4])},
    }
    # the exceptions treat padding in ways of their own
    if rows > 1 and model.head not in ("causal_lm", "sequence_classification"):
        given["attention_mask"][1, -3:] = 0
    if model.head is None and hasattr(model.config, "decoder_start_token_id"):
        given["decoder_input_ids"] = ids(rows, length)
    if hasattr(model, "get_text_features"):  # its texts have to end before padding begins
        given["input_ids"][:, -5] = model.config.eos_token_id
    return given | labels.get(model.head, dict)() | pictures


def random_pictures(model: Any, rows: int, draw: torch.Generator) -> dict[str, Any]:
    """What a model that cuts pictures into patches reads, with a head's labels; {} for others."""
    embed = next((part for part in model.modules() if hasattr(part, "patches")), None)
    if embed is None:
        return {}
    given: dict[str, Any] = {"pixel_values": torch.randn(rows, model.config.n_channels, *embed.size, generator=draw)}
    if model.head == "image_classification":
        given["labels"] = torch.zeros(rows, dtype=torch.int64)
    return given | ({"return_loss": True} if hasattr(model, "get_text_features") and model.head is None else {})


def greedy(candidate: Any, reference: Any) -> Comparison:
    """The greedy output of both models for the same ids."""
    ids = inputs(candidate, rows=1)["input_ids"]
    start: dict[str, Any] = {}
    if candidate.head == "seq2seq_lm" and candidate.config.decoder_start_token_id is None:
        start = {"start_id": 2}
    with torch.no_grad(), quiet():
        found_ids = generate(candidate, ids, Greedy(), max_new_tokens=NEW, **start)[0].tolist()
        loading_info = {"decoder_start_token_id": 2} if start else {}
        how = dict(
            max_new_tokens=NEW, do_sample=False, num_beams=1, attention_mask=torch.ones_like(ids), **loading_info
        )
        other = reference.generate(ids, **how)[0].tolist()
    same = sum(1 for a, b in zip(found_ids, other, strict=False) if a == b)
    right = found_ids == other
    new = len(found_ids) - (ids.size(1) if candidate.head == "causal_lm" else 1)
    found = (
        f"{new} new ids, all the same"
        if right
        else f"differ at position {same}: {found_ids[same:][:3]}, {other[same:][:3]}"
    )
    return Comparison("greedy decoding", found, right)


@contextmanager
def quiet() -> Iterator[None]:
    """Silences transformers' own progress bars and warnings during the report."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(before)
        logging.enable_progress_bar()
