"""The grammar of names: one public class of a name, and no class, function or method is named by a participle."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("tfkit", "autograder", "course", "extension/tfkit_lab", "tools")
# one name, several classes, and a reason for each
SHARED = {
    "Attention": "the module of tfkit.nn, and the view that draws its weights",
    "GroupedQueryAttention": "unit 13's module, whose name and arguments exercises fix, and the models' faster one",
    "MixtureOfExperts": "unit 13's module, whose name and arguments exercises fix, and the models' faster one",
    "MultipleChoiceHead": "a base, and its variant over a summary",
    "SequenceClassificationHead": "a base, and its variant over a summary",
    "Size": "each claim has sizes of its own, as each architecture has a Config",
}
PARTICIPLES = re.compile(
    r"^(?:[A-Z][a-z]+ed|Seen|Known|Given|Told|Taken|Sent|Drawn"
    r"|Overheard|Held|Kept|Made|Lost|Found|Done|Spent|Shown|Written)$"
)
PARTICIPLE_FUNCTIONS = re.compile(
    r"^(?:(?!embed$|reseed$)[a-z]{3,}ed|seen|known|given|told|taken|sent|drawn|heard|held|kept|made|lost|found|spent|shown|written|said)$"
)
# functions whose names are fixed elsewhere, and by what
FIXED_FUNCTIONS = {
    "built": "a property of checks is called as its file, and units call it so",
    "predicted": "a notebook's cells call it",
    "speed": "a property of checks is called as its file: a noun",
}


def files() -> Iterator[Path]:
    """Every module of the packages, without the units' own folders, the pages, and what attackers hand in."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            if not {"units", "pages", "node_modules", "hostile", "clock"} & set(file.relative_to(ROOT).parts):
                yield file


@cache
def parsed(file: Path) -> ast.Module:
    """The module's syntax tree, read once for all tests."""
    return ast.parse(file.read_text(encoding="utf-8"))


def public_classes() -> dict[str, list[str]]:
    """Name -> the files that define a class of that name; an architecture's file has its own Config and Layer."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in files():
        where = str(file.relative_to(ROOT))
        if where.startswith("tfkit/models/") and not file.name.startswith("_"):
            continue
        for node in parsed(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(where)
    return found


# properties that say of a thing what was done to it, as transformers and nbgrader do, and one contract
FIXED_METHODS = {
    "merged": "EXERCISES names it for LoRALinear",
    "failed": "the answers that failed, a property",
    "graded": "how many are graded, a property",
    "passed": "whether all passed, a property",
    "released": "nbgrader's own word for what students got, a property",
}


def test_a_class_name_means_one_thing() -> None:
    twice = {name: where for name, where in public_classes().items() if len(where) > 1 and name not in SHARED}
    assert not twice, "\n".join(f"{name} is defined in {', '.join(where)}: rename one" for name, where in twice.items())


def test_no_class_is_named_by_a_participle() -> None:
    wrong = {name: where for name, where in public_classes().items() if PARTICIPLES.match(name)}
    assert not wrong, "\n".join(f"{where[0]}: {name} is a participle: name the thing" for name, where in wrong.items())


def test_no_function_is_named_by_a_participle() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {node.name} is a participle: say what it does or gives"
        for file in files()
        for node in parsed(file).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and PARTICIPLE_FUNCTIONS.match(node.name)
        and node.name not in FIXED_FUNCTIONS
    ]
    assert not wrong, "\n".join(wrong)


def test_no_method_is_named_by_a_participle() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{part.lineno}: {node.name}.{part.name}: say what it does or gives"
        for file in files()
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
        and PARTICIPLE_FUNCTIONS.match(part.name)
        and part.name not in FIXED_METHODS
    ]
    assert not wrong, "\n".join(wrong)


def participles(module: ast.Module) -> list[str]:
    """ "LINE NAME" of each function, method or function within one that a participle names; private ones too."""
    functions = (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [
        f"{node.lineno} {node.name}"
        for node in functions
        if PARTICIPLE_FUNCTIONS.match(node.name.removeprefix("_")) and node.name not in FIXED_METHODS
    ]


@pytest.mark.parametrize("folder", ["tfkit", "tools"])
def test_no_function_of_the_library_is_named_by_a_participle_not_even_a_private_one(folder: str) -> None:
    sources = sorted((ROOT / folder).rglob("*.py"))
    wrong = [f"{file.relative_to(ROOT)}:{line}" for file in sources for line in participles(parsed(file))]
    assert len(sources) > 10 and not wrong, "\n".join(wrong)


def test_a_private_participle_is_found() -> None:
    text = "def f():\n    def told(): ...\nclass A:\n    def _kept(self): ...\n    def merged(self): ..."
    assert participles(ast.parse(text)) == ["2 told", "4 _kept"]


@pytest.mark.parametrize("name", ["told", "localized", "said"])
def test_a_participle_is_recognised_as_a_functions_name(name: str) -> None:
    assert PARTICIPLE_FUNCTIONS.match(name) and not PARTICIPLE_FUNCTIONS.match(f"{name}_value")


@pytest.mark.parametrize("name", ["Watched", "Released", "Seen", "Known"])
def test_a_participle_is_recognised(name: str) -> None:
    assert PARTICIPLES.match(name)
