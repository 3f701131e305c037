"""Hunts in whole models: a page of `tfkit.pages` with one fault, made by a fault operator.

Each page is held to its published architecture by tests/pages, so the page itself is the repair. Loads no torch.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from autograder.exercises.variants import variant
from autograder.hunts.faults import MOST_PLACES, FaultOperator, PageSource, fault_operators
from autograder.hunts.make import UnknownHunt, changed_lines, changed_places

PREFIX = "page."  # of the ids of these hunts, in front of the page's name
LENGTH = 9  # tokens of a text, unless pages.toml says otherwise


@dataclass(frozen=True)
class ModelPage:
    """A page, and the small size in which it is run."""

    name: str
    source: PageSource
    size: dict[str, Any]
    length: int

    @property
    def id(self) -> str:
        """`page.gpt2`."""
        return PREFIX + self.name

    @property
    def title(self) -> str:
        """The name of its class, `GPT2`."""
        return self.model.name

    @cached_property
    def model(self) -> ast.ClassDef:
        """The class that the page's MODEL names."""
        (name,) = (node.value.id for node in self.source.tree.body if _assigns(node, "MODEL"))  # type: ignore[attr-defined]
        (found,) = (node for node in self.source.tree.body if isinstance(node, ast.ClassDef) and node.name == name)
        return found

    def parameters(self, method: str) -> tuple[str, ...]:
        """The parameters of one of the model's methods; none if it has no such method."""
        found = [node for node in self.model.body if isinstance(node, ast.FunctionDef) and node.name == method]
        return tuple(one.arg for node in found for one in node.args.args if one.arg != "self")

    @property
    def is_language_model(self) -> bool:
        """Whether it predicts the next token of a text, so that it can be trained on one."""
        return self.parameters("forward") == ("input_ids",) and bool(self.parameters("generate"))


def _assigns(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name


@dataclass(frozen=True)
class PageHunt:
    """A page with one fault. `id` names the fault, so it is not for students; `title` is."""

    page: ModelPage
    fault: str  # the operator's name, with a number from its second place on
    operator: FaultOperator
    code: str

    @property
    def id(self) -> str:
        """`page.gpt2/causal_mask_off_by_one`."""
        return f"{self.subject}/{self.fault}"

    @property
    def subject(self) -> str:
        """`page.gpt2`, what a student may know."""
        return self.page.id

    @property
    def names(self) -> tuple[str, ...]:
        """The name of its fault."""
        return (self.fault,)

    @property
    def repair(self) -> str:
        """The page."""
        return self.page.source.text

    @property
    def fault_lines(self) -> tuple[tuple[int, ...], ...]:
        """The lines of the fault in `code`, from 1 on."""
        return (changed_places(self.code, self.repair),)

    @property
    def changed_lines(self) -> int:
        """The number of lines that the smallest known repair changes."""
        return changed_lines(self.code, self.repair)


def is_page(name: str) -> bool:
    """Whether this is the id of a page, or of one of its hunts."""
    return name.startswith(PREFIX)


@cache
def pages() -> dict[str, ModelPage]:
    """All pages that have a small size, by their names."""
    sizes = tomllib.loads((Path(__file__).parent / "pages.toml").read_text(encoding="utf-8"))
    spec = importlib.util.find_spec("tfkit")
    assert spec is not None and spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0]) / "pages"
    return {
        name: ModelPage(name, PageSource((folder / f"{name}.py").read_text(encoding="utf-8")),
                   about["size"], about.get("length", LENGTH))
        for name, about in sizes.items()
    }  # fmt: skip


def page(name: str) -> ModelPage:
    """The page of this name, with or without the prefix. Raises UnknownHunt."""
    short = name.removeprefix(PREFIX)
    if short not in pages():
        near = difflib.get_close_matches(short, pages(), n=3, cutoff=0.0)
        raise UnknownHunt(f"no page is called {short!r}; similar: {', '.join(near)}")
    return pages()[short]


@cache
def page_hunts(name: str) -> tuple[PageHunt, ...]:
    """The hunts of a page, in the order of their ids. Raises UnknownHunt for a page that is not there."""
    of = page(name)
    unseen = set(_unseen().get(of.name, ()))
    found: dict[str, PageHunt] = {}  # by code: two operators may write the same
    for operator in fault_operators().values():
        for place, code in enumerate(list(operator.faulty(of.source))[:MOST_PLACES], 1):
            fault = operator.name if place == 1 else f"{operator.name}_{place}"
            if fault not in unseen:
                found.setdefault(code, PageHunt(of, fault, operator, code))
    return tuple(sorted(found.values(), key=lambda hunt: hunt.id))


@cache
def _unseen() -> dict[str, list[str]]:
    """Changes of a page without an effect, or with one that stops it: no hunts."""
    path = Path(__file__).parent / "unseen.toml"
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: [fault for faults in kinds.values() for fault in faults] for name, kinds in found.items()}


def find_page_hunt(id: str) -> PageHunt:
    """The hunt of this id. Raises UnknownHunt."""
    name, _, fault = id.partition("/")
    known = {hunt.fault: hunt for hunt in page_hunts(page(name).name)}
    if fault not in known:
        near = difflib.get_close_matches(fault, known, n=3, cutoff=0.0)
        raise UnknownHunt(f"{name} has no fault called {fault!r}; some of its {len(known)}: {', '.join(near)}")
    return known[fault]


def draw_page_hunt(name: str, student: str | None, seed: int) -> PageHunt:
    """The student's hunt in this page for this seed, by default that of the current user. Raises UnknownHunt."""
    of = page(name)
    drawn: PageHunt = variant(f"hunt/{PREFIX}{of.name}/{seed}", student, hunt=list(page_hunts(of.name))).hunt
    return drawn
