"""How the models are put together: contexts have arguments of their own, and no child undoes what its parent made."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from torch import nn

import tfkit
from tfkit import registry
from tfkit.models._base import Model
from tfkit.tools.compare import changes, settings

ROOT = Path(tfkit.__file__).parent
FILES = sorted([*(ROOT / "nn").glob("*.py"), *(ROOT / "models").glob("*.py")])
NAMES = sorted(registry.sources())
NO_PARENT = {"rnn_seq2seq"}
# a property; what a tensor subclass must define, which torch's own annotations type as something else
TYPED_DIFFERENTLY = ("def length(self) -> int:", "def __repr__(self) -> str:", "def __torch_dispatch__(")
NEEDS_AN_EXTRA = {
    "triton_flash",
    "triton_single_row",
}  # they cannot be imported without triton, and have functions alone


def loaded(name: str) -> Any:
    return importlib.import_module(registry.sources()[name])


def classes() -> Iterator[type]:
    """Every module class of tfkit.nn and tfkit.models."""
    for file in FILES:
        if file.stem in NEEDS_AN_EXTRA:
            continue
        module = importlib.import_module(f"tfkit.{file.parent.name}.{file.stem}".removesuffix(".__init__"))
        for found in vars(module).values():
            if inspect.isclass(found) and found.__module__ == module.__name__ and issubclass(found, nn.Module):
                yield found


MODULES = list(classes())


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_no_child_undoes_what_its_parent_made(file):
    """No `del self.x`, nothing popped from a module, no constructor of a grandparent past the parent's."""
    text = file.read_text(encoding="utf-8")
    overridden = [line.strip() for line in text.splitlines() if "ignore[override]" in line]
    assert not [line for line in overridden if not line.startswith(TYPED_DIFFERENTLY)]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Delete):
            assert not any(ast.unparse(target).startswith("self.") for target in node.targets), node.lineno
        if isinstance(node, ast.Attribute):
            assert node.attr != "_modules", node.lineno
            assert node.attr != "__init__" or ast.unparse(node.value) == "super()", node.lineno


def parameters(forward: Any) -> list[inspect.Parameter]:
    return [p for p in inspect.signature(forward).parameters.values() if p.name != "self"]


@pytest.mark.parametrize("part", MODULES, ids=lambda part: f"{part.__module__}.{part.__name__}")
def test_a_child_is_called_as_its_parent_is(part):
    """The child's `forward` begins with the parent's arguments, under their names, and any more may be left out."""
    for parent in part.__mro__[1:]:
        if "forward" not in vars(part) or "forward" not in vars(parent) or not parent.__module__.startswith("tfkit"):
            continue
        own, theirs = parameters(part.forward), parameters(parent.forward)
        named = {p.name: p for p in own}
        rest = any(p.kind is p.VAR_KEYWORD for p in own)
        places = [p.name for p in theirs if p.kind is p.POSITIONAL_OR_KEYWORD]
        if any(p.kind is p.VAR_POSITIONAL for p in own):
            continue  # it passes on whatever it is given
        assert [p.name for p in own if p.kind is p.POSITIONAL_OR_KEYWORD][: len(places)] == places, parent
        missing = [p.name for p in theirs if p.kind is p.KEYWORD_ONLY and p.name not in named]
        assert rest or not missing, (parent, missing)
        more = [p for p in own if p.name not in {q.name for q in theirs} and p.kind is not p.VAR_KEYWORD]
        assert all(p.default is not p.empty for p in more), (parent, more)


@pytest.mark.parametrize("part", MODULES, ids=lambda part: f"{part.__module__}.{part.__name__}")
def test_a_mask_is_a_mask(part):
    """What is called a mask is a boolean tensor; any other context has a class and an argument of its own."""
    for parameter in parameters(part.forward):
        annotation = str(parameter.annotation).replace("torch.Tensor", "Tensor")
        if parameter.name.endswith("mask") and parameter.annotation is not parameter.empty:
            assert annotation in ("Tensor", "Tensor | None", "Mask", "Mask | None"), annotation
        if "Context" in annotation:
            assert parameter.name.endswith("context"), parameter


def depth(kind: type) -> int:
    """How many classes stand between this one and `Model`, itself included."""
    return 0 if kind is Model else 1 + max(depth(base) for base in kind.__bases__ if issubclass(base, Model))


@pytest.mark.parametrize("name", NAMES)
def test_an_architecture_has_at_most_one_other_below_it(name):
    assert depth(loaded(name).MODEL) <= 2


@pytest.mark.parametrize("name", sorted(set(NAMES) - NO_PARENT))
def test_the_parent_in_the_docstring_is_a_base_class_or_one_by_idea(name):
    module = loaded(name)
    line = re.search(r"^Parent +(\w+)(.*)$", module.__doc__, re.MULTILINE)
    assert line, name
    parent, remark = line.groups()
    bases = {base.__module__.rpartition(".")[2] for base in module.MODEL.__mro__[1:]}
    assert parent in NAMES
    assert (parent in bases) != ("by idea" in remark), f"{parent}{remark}: the bases are from {sorted(bases)}"


def inherits(name: str) -> bool:
    """Whether an architecture's Config is a child of another's."""
    files = {base.__module__ for base in loaded(name).Config.__mro__[1:] if base.__name__ == "Config"}
    return bool(files)


@pytest.mark.parametrize("name", [name for name in NAMES if inherits(name) and loaded(name).PRESETS])
def test_a_config_as_it_stands_is_a_published_size(name):
    module = loaded(name)
    default = module.Config()
    sizes = [module.Config(**preset) for preset in module.PRESETS.values()]
    same = [all(getattr(size, f.name) == getattr(default, f.name) for f in fields(default)) for size in sizes]
    assert any(same), f"Config() is none of {', '.join(module.PRESETS)}"


def test_the_difference_of_two_configurations_shows_what_was_published():
    found = {name: (one, other) for name, one, other in changes(settings("bert"), settings("roberta"))}
    assert found["eps"] == ("1e-12", "1e-05")
    assert found["vocab_size"] == ("30522", "50265")
