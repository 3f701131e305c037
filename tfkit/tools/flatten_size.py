"""`tfkit flatten NAME --head HEAD`: the flat file of one published size with one head, as short as it can be.

It is for calls with ids, masks, sentence types and labels, in training and evaluation. Caches, checks of what it is
given, and whatever other settings would need are left out; `flatten` writes the whole file.
"""

from __future__ import annotations

import ast
import inspect
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from types import ModuleType
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn

from .. import registry
from ..hub.loading import shapes_only
from .flatten import flatten
from .observe import execute
from .rewrite import Source
from .specialise import specialise

LARGEST = 1_500_000_000  # parameters: a larger model is not run here
SMALL_LAYERS, SMALL_WORDS = 2, 1000  # of the model that is run many times
LENGTH = 10
OF_A_TEXT = ("sequence_classification", "multiple_choice", "next_sentence", "sentence_order")
CHOICES = ("multiple_choice", "double_heads")
INITIALISERS = ("normal_", "uniform_", "kaiming_uniform_", "xavier_uniform_", "xavier_normal_", "trunc_normal_")
log = logging.getLogger(__name__)
NOTE = """Written by `tfkit flatten {name} --head {head}` for this configuration, in any size: one file, torch alone.
It takes ids, masks, sentence types and labels, and decodes nothing; attention is step by step. Docstrings are the
library's, and may tell of arguments that are left out here."""


def flatten_size(name: str, head: str, more: Sequence[str] = (), **settings: Any) -> str:
    """The source of a file that defines Config and MODEL of an architecture, or of one of its published sizes, with one
    head: MODEL(Config()) is that model, and loads its weights.

    more: as in `flatten`; settings: other values of Config fields. Raises LookupError for an unknown name or head,
    ValueError for a model that is too large to be run, or that reads no text.
    """
    architecture, module, config = registry.resolve_submodel({"architecture": name, **settings})
    text = without_presets(flatten(architecture, head, more, textbook=True))
    check_runs(name, module, config, head)
    use = ReferenceRun(module, config, head)
    try:
        text = specialise_small(text, module, config, head, use)
    except Exception as error:  # a small model may be impossible, or may not need what the real one needs
        log.debug("%s is run at its real size: %s", name, error)
        text = specialise(text, use)
    start = ast.parse(text).body[0]
    written = (ast.get_docstring(ast.parse(text), clean=False) or "").partition("\n\nWritten by")[0]
    body = "\n".join(with_values(text, config).splitlines()[start.end_lineno :])  # type: ignore[misc]
    return f'"""{written}\n\n{NOTE.format(name=name, head=head)}\n"""\n{body}\n'


def specialise_small(text: str, module: ModuleType, config: Any, head: str, use: ReferenceRun) -> str:
    """The file specialised with a small model of the same kind. `use` then compares it with the real one, and raises an
    error if it differs."""
    found = specialise(text, ReferenceRun(module, small_config(config), head))
    use(execute(compile(found, "flat", "exec")))
    return found


def small_config(config: Any) -> Any:
    """The same configuration with a few layers and words: what is run many times should be fast."""
    names = {field.name for field in fields(config)}
    ids = [value for name, value in vars(config).items() if name.endswith("_id") and isinstance(value, int)]
    most = {"n_layers": SMALL_LAYERS, "n_decoder_layers": SMALL_LAYERS, "vocab_size": max([SMALL_WORDS, *ids]) + 1}
    changes = {name: min(limit, getattr(config, name)) for name, limit in most.items() if getattr(config, name, None)}
    return replace(config, **{name: value for name, value in changes.items() if name in names})


def check_runs(name: str, module: ModuleType, config: Any, head: str) -> None:
    """Raises ValueError for a model that is too large, or that is not called with ids."""
    with shapes_only():
        model = module.MODEL(config, head)
    size = sum(parameter.numel() for parameter in model.parameters())
    if size > LARGEST:
        sizes = ", ".join(module.PRESETS)
        raise ValueError(f"{name} has {size:,} parameters, too many to run it here; sizes are {sizes}; or take --whole")
    if "input_ids" not in inspect.signature(model.forward).parameters or reads_more(model):
        raise ValueError(f"{name} reads more than ids: take --whole")


def reads_more(model: Any) -> bool:
    """Whether a model needs pictures, sound or passages."""
    names = inspect.signature(model.forward).parameters
    return bool(set(names) & {"input_modal", "pixel_values", "input_features", "doc_scores"})


def example_calls(model: Any) -> list[dict[str, Tensor]]:
    """The arguments of the calls that the file is for: without and with padding, sentence types, labels."""
    draw = torch.Generator().manual_seed(0)
    size = getattr(model.config, "vocab_size", None) or model.config.decoder_vocab_size
    shape = (2, 2, LENGTH) if model.head in CHOICES else (2, LENGTH)
    ids = torch.randint(min(5, size - 1), size, shape, generator=draw)
    mask = torch.ones_like(ids)
    padded = mask.clone()
    padded[1, ..., -3:] = 0
    names = inspect.signature(model.forward).parameters
    given: dict[str, Tensor] = {"input_ids": ids}
    seq2seq = "decoder_input_ids" in names and model.head in (None, "seq2seq_lm")
    start = {"decoder_input_ids": ids[:, :4]} if seq2seq else {}
    known = {"labels": ids[:, :4]} if seq2seq else targets(model, ids)
    end = getattr(model.config, "eos_token_id", None)
    if end is not None and end < size and not seq2seq:
        ids[..., -1] = end
    typed = "token_type_ids" in names and (getattr(model.config, "n_types", 2) or 0) > 1
    types = {"token_type_ids": (torch.arange(LENGTH) > 4).long().expand(shape)} if typed else {}
    found = [given | start, given | known, given | known | {"attention_mask": mask}]
    return [*found, given | start | {"attention_mask": padded}, given | known | types | {"attention_mask": padded}]


def targets(model: Any, ids: Tensor) -> dict[str, Tensor]:
    """What a head learns from, for ids [B,L] or [B,C,L], by name."""
    names = getattr(getattr(model, "task_head", None), "TARGETS", ("labels",) if model.head else ())
    rows = torch.arange(len(ids)) % 2
    tagged = model.head in ("token_classification", "replaced_token")
    known = {
        "labels": rows if model.head in OF_A_TEXT else ids % 2 if tagged else ids,
        "mc_token_ids": ids[..., 0] * 0 + ids.size(-1) - 1,
        "p_mask": torch.zeros_like(ids),
        "cls_index": rows * 0,
        "end_positions": rows + 1,
    }
    return {name: known.get(name, rows) for name in names if name != "question"}


@contextmanager
def without_initialisation() -> Iterator[None]:
    """Weights keep what was in memory: they are loaded anyhow."""
    keep: Any = {name: lambda tensor, *_, **__: tensor for name in INITIALISERS}
    with mock.patch.multiple(nn.init, **keep):
        yield


class ReferenceRun:
    """A model of the library with its outputs, for comparison: called with a file's module, it runs the file's model in
    training and evaluation. Raises AssertionError if that gives other numbers."""

    def __init__(self, module: ModuleType, config: Any, head: str) -> None:
        self.model = module.MODEL(config, head).eval()
        self.calls = example_calls(self.model)
        with torch.no_grad():
            self.expected = [self.model(**given) for given in self.calls]

    def __call__(self, flat: ModuleType) -> None:
        """Compares the model of a file, which was executed as a module."""
        other = self.make(flat)
        for given in self.calls:
            out = other.train()(**given)
            torch.stack(
                [t.float().sum() for t in out.values() if isinstance(t, Tensor) and t.requires_grad]
            ).sum().backward()
        for given, expected in zip(self.calls, self.expected, strict=True):
            with torch.no_grad():
                found = other.eval()(**given)
            for name, tensor in expected.items():
                if isinstance(tensor, Tensor):
                    torch.testing.assert_close(found[name], tensor, rtol=1e-4, atol=1e-4)
                    assert getattr(found, name) is found[name]

    def make(self, flat: ModuleType) -> Any:
        """The file's model, with the library's weights."""
        known = {field.name for field in fields(flat.Config)}
        config = flat.Config(**{name: value for name, value in vars(self.model.config).items() if name in known})
        with without_initialisation():
            names = inspect.signature(flat.MODEL.__init__).parameters
            other = flat.MODEL(config, self.model.head) if "head" in names else flat.MODEL(config)
        other.load_state_dict(self.model.state_dict())
        return other.to(next(self.model.parameters()).dtype)


def without_presets(text: str) -> str:
    """A flat file without its table of published sizes, unless a part of the model is looked up in one."""
    source = Source(text)
    if sum(isinstance(node, ast.Name) and node.id == "PRESETS" for node in source.nodes) == 1:
        for node in source.tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and source.text(node).startswith("PRESETS"):
                source.remove(node)
    return source.apply()


def with_values(text: str, config: Any) -> str:
    """A flat file in which the defaults of Config are those of one configuration."""
    source = Source(text)
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Config":
            for field in (n for n in node.body if isinstance(n, ast.AnnAssign)):
                value = getattr(config, ast.unparse(field.target))
                if field.value is None or ast.unparse(field.value) != repr(value):
                    text = f'"{value}"' if isinstance(value, str) else repr(value)
                    source.replace(field.value or field.annotation, text) if field.value else None
    return source.apply()
