"""Each page of `tfkit.pages` is the architecture: the real model's weights load into it, and outputs, gradients and
generated ids are the same."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import tfkit
from tests.models.table import ROWS, WithPassages, drawn, ours
from tests.models.test_laws import make
from tfkit import registry
from tfkit.hub.loading import shapes_only
from tfkit.models.bloom import alibi_slopes
from tfkit.objectives.in_batch_contrastive import in_batch_loss

FOLDER = Path(tfkit.__file__).parent / "pages"
NAMES = sorted(file.stem for file in FOLDER.glob("[!_]*.py"))
RULES: dict[str, Any] = {"end_id": -1, "forced_bos_token_id": None, "forced_eos_token_id": None}
NEW = 5
LANGUAGE = 7


def page_of(name: str) -> ModuleType:
    return importlib.import_module(f"tfkit.pages.{name}")


@functools.cache
def built(name: str) -> tuple[Any, Any]:
    """The real model in float64, and the page's with the same numbers."""
    row = ROWS[name]
    real: Any = make(name, row.page_head or row.head, **row.page)[1]
    if isinstance(row, WithPassages):
        row.open(real)
    page = page_of(name)
    model = page.MODEL(config(page.Config, real)).double().eval()
    model.load_state_dict(real.state_dict(), strict=True)
    return real, model


def config(kind: Any, real: Any) -> Any:
    """A page's Config: its fields are named as those of the real model's, or of its part's, where it is made of two."""
    fields = {}
    parts = [real.config, *(part.config for part in real.children() if hasattr(part, "config"))]
    for field in dataclasses.fields(kind):
        if dataclasses.is_dataclass(field.default):
            fields[field.name] = config(type(field.default), getattr(real, field.name))
        else:
            holder = next((part for part in parts if hasattr(part, field.name)), None)
            assert holder is not None or field.name == "eps", f"{field.name} is no field of the model's Config"
            fields[field.name] = field.default if holder is None else getattr(holder, field.name)
    return kind(**fields)


def inputs(name: str, real: Any) -> dict[str, Any]:
    """All that any page may read: three sentences of unequal length, padded on the right."""
    length = ROWS[name].length
    pad = getattr(real.config, "pad_token_id", None) or 0
    mask = torch.arange(length) < torch.tensor([length, length - 4, length - 2])[:, None]
    found = getattr(real, "retriever", None)
    index = None if found is None else (found.index.vectors.double(), torch.tensor(found.passages))
    return {
        "index": index,
        "input_ids": drawn(3, length).masked_fill(~mask, pad),
        "attention_mask": mask.long(),
        "pixel_values": torch.randn(3, 3, 6, 6, generator=torch.Generator().manual_seed(7), dtype=torch.float64),
        "input_features": torch.randn(3, 5, 48, generator=torch.Generator().manual_seed(7), dtype=torch.float64),
        "token_type_ids": (torch.arange(length) > 2).long().expand(3, -1),
        "decoder_input_ids": drawn(3, 4, seed=5).index_fill(1, torch.tensor([3]), pad),
        "langs": (torch.arange(length) % 2).expand(3, -1),
        "global_attention_mask": torch.isin(torch.arange(length), torch.tensor([0, 6])).long().expand(3, -1),
        "input_modal": torch.randn(3, 3, 5, generator=torch.Generator().manual_seed(7), dtype=torch.float64),
        "modal_start_tokens": torch.full((3,), 4),
        "modal_end_tokens": torch.full((3,), 5),
        **permutation(length),
    }


def permutation(length: int) -> dict[str, Tensor]:
    """XLNet's: the order in which tokens are predicted, and the last three of that order as targets."""
    order = torch.randperm(length, generator=torch.Generator().manual_seed(4))
    rank = order.argsort()
    perm_mask = (rank[:, None] <= rank[None, :]).long()  # row i may not see j that comes no earlier
    targets = nn.functional.one_hot(order[-3:], length)
    return {"perm_mask": perm_mask.expand(3, -1, -1), "target_mapping": targets.expand(3, -1, -1)}


def called(model: nn.Module, page: nn.Module, given: dict[str, Any]) -> Any:
    """The model on what the page reads, which is named in its signature; the model has an index of its own."""
    reads = {key: given[key] for key in inspect.signature(page.forward).parameters if key in given}
    if model is not page and reads.pop("index", None):
        reads["do_marginalize"] = True
    return model(**reads)


def scores(out: Any) -> Tensor:
    """Of what a model, or a page, gives."""
    if isinstance(out, Tensor | tuple):
        return out[0] if isinstance(out, tuple) else out
    if "logits_per_text" in out:
        return out.logits_per_text
    if "logits_ngram" in out:
        return torch.cat([out.logits[:, None], out.logits_ngram], dim=1)
    return out.pooler_output if out.logits is None else out.logits


def gradients(model: nn.Module, logits: Tensor) -> dict[str, Tensor]:
    """Of one scalar, by all parameters; zeros where it does not depend on one."""
    draw = torch.Generator().manual_seed(2)
    loss = (logits * torch.randn(logits.shape, generator=draw, dtype=logits.dtype)).sum()
    names, weights = zip(*model.named_parameters(), strict=True)
    found = torch.autograd.grad(loss, weights, allow_unused=True)
    return {n: torch.zeros_like(w) if g is None else g for n, w, g in zip(names, weights, found, strict=True)}


def test_every_architecture_has_a_page() -> None:
    assert set(NAMES) == ours()


def test_pages_run_with_torch_alone() -> None:
    """Nothing but torch and the standard library is imported, and no page needs another."""
    for name in NAMES:
        tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
        froms = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
        plain = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree)), name
        assert {module.partition(".")[0] for module in froms | plain} <= sys.stdlib_module_names | {"torch"}, name
    run = (
        "import runpy, sys; sys.modules['tfkit'] = None; "
        "[runpy.run_path(file)['MODEL'] for file in sys.argv[1:]]; print('all ran')"
    )
    files = [str(FOLDER / f"{name}.py") for name in NAMES]
    done = subprocess.run([sys.executable, "-I", "-c", run, *files], capture_output=True, text=True, timeout=120)
    assert done.stdout == "all ran\n", done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_a_page(name: str) -> None:
    """Short, with the softmax in sight; every signature typed, every function but a constructor with its shapes."""
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert 50 <= len(text.splitlines()) <= 180
    assert (".softmax(-1)" in text) == ROWS[name].page_softmax
    assert "Adds to " in text and "Shapes: B " in text and "MODEL = " in text
    for function in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)):
        where, arguments = f"{name}.py:{function.lineno}", function.args.args
        assert function.returns is not None, where
        assert all(argument.annotation for argument in arguments if argument.arg != "self"), where
        assert function.name == "__init__" or re.search(r"\[\w|->", ast.get_docstring(function) or ""), where
        assert function.end_lineno is not None and function.end_lineno - function.lineno < 35, where


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_the_architecture(name: str) -> None:
    real, page = built(name)
    given = inputs(name, real)
    expected, logits = scores(called(real, page, given)), scores(called(page, page, given))
    close = {"atol": ROWS[name].page_tolerance, "rtol": ROWS[name].page_tolerance}
    torch.testing.assert_close(logits, expected, **close)
    wanted, found = gradients(real, expected), gradients(page, logits)
    assert found.keys() == wanted.keys()
    for key, gradient in wanted.items():
        assert torch.allclose(found[key], gradient, **close), key


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_page_as_it_stands_has_a_published_size(name: str) -> None:
    """`Config()` of the page is a preset: the same names and shapes, and the same fields. No memory is taken."""
    page, head = page_of(name), ROWS[name].page_head or ROWS[name].head
    with shapes_only():
        wanted = shapes(page.MODEL(page.Config()))
        for preset in registry.load(name).PRESETS:
            real = tfkit.from_config(name, head=head, preset=preset, **ROWS[name].page_size)
            if shapes(real) == wanted and config(page.Config, real) == page.Config():
                return
    pytest.fail(f"no preset of {name} has the shapes and the fields of the page")


def shapes(model: nn.Module) -> dict[str, torch.Size]:
    return {key: tensor.shape for key, tensor in model.state_dict().items()}


@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(page_of(name).MODEL, "generate")])
def test_a_page_writes_the_same(name: str) -> None:
    real, page = built(name)
    given = inputs(name, real) | {"max_new_tokens": NEW, "language_id": LANGUAGE}
    reads = inspect.signature(page.generate).parameters
    source = "input_features" if "input_features" in reads else "input_ids"
    if "attention_mask" not in reads:  # prompts without padding
        given["input_ids"] = drawn(3, 4)
    asked = {"max_new_tokens": NEW, **RULES}
    if "language_id" in reads:
        start = getattr(real.config, "decoder_start_token_id", None)
        asked |= {"start_id": LANGUAGE} if start is None else {"prefix": LANGUAGE}
    mask = given["attention_mask"] if "attention_mask" in reads else None
    expected = tfkit.generate(real, given[source], attention_mask=mask, **asked)
    assert page.generate(**{key: given[key] for key in reads}).tolist() == expected.tolist()


def test_bigbird_draws_its_links_in_training() -> None:
    counts = page_of("bigbird").block_counts
    drawn, later = counts(12, 2, draw=True), counts(12, 2, draw=False)
    assert drawn.unique().tolist() == [0.0, 1.0]
    assert drawn.sum(1).tolist() == later.sum(1).tolist() == [12, 6, *[7] * 8, 6, 12]


def test_bloom_has_slopes_for_any_number_of_heads() -> None:
    """The table's has 4; the largest model has 112, which is no power of 2."""
    for n_heads in (1, 4, 6, 112):
        assert torch.equal(page_of("bloom").alibi_slopes(n_heads), alibi_slopes(n_heads))


def test_transformer_xl_reads_on() -> None:
    """The second segment, and what it leaves for the third; the model's are [M,B,E]."""
    real, page = built("transformer_xl")
    first, second = drawn(2, 5), drawn(2, 4, seed=1)
    expected = real(second, mems=real(first).mems)
    found, mems = page(second, page(first)[1])
    torch.testing.assert_close(found, expected.logits)
    for memory, wanted in zip(mems, expected.mems, strict=True):
        torch.testing.assert_close(memory.transpose(0, 1), wanted)


def test_dpr_learns_from_the_batch() -> None:
    draw = torch.Generator().manual_seed(3)
    questions, passages = torch.randn(4, 6, generator=draw), torch.randn(8, 6, generator=draw)
    expected = in_batch_loss(questions, passages, torch.arange(4))
    torch.testing.assert_close(page_of("dpr").in_batch_loss(questions, passages), expected)
