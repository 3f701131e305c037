"""Which package may import which: read from the source, so that a slip fails here and not in a student's lab."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("tfkit", "autograder", "course", "tfkit_course", "tfkit_lab")


def modules() -> dict[str, Path]:
    """Dotted name -> file, of every module of the project but the units' own folders."""
    found = {}
    for package in OURS:
        base = ROOT / "extension" if package == "tfkit_lab" else ROOT
        for file in sorted((base / package).rglob("*.py")):
            parts = file.relative_to(base).with_suffix("").parts
            if "units" not in parts and "node_modules" not in parts:
                found[".".join(parts).removesuffix(".__init__")] = file
    return found


def imports(name: str, file: Path) -> set[str]:
    """Dotted names that a module imports anywhere, inside functions too; relative ones made absolute."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    seen: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            seen |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            up = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*up, *([node.module] if node.module else [])])
            seen |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return seen


MODULES = modules()
IMPORTS = {name: imports(name, file) for name, file in MODULES.items()}


def under(name: str, *prefixes: str) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def offenders(who: str, whom: tuple[str, ...], but: tuple[str, ...] = ()) -> list[str]:
    return [
        f"{name} imports {target}"
        for name in MODULES
        if under(name, who) and not under(name, *but)
        for target in sorted(IMPORTS[name])
        if under(target, *whom)
    ]


RULES = [
    ("tfkit_course", ("torch", "autograder", "course", "tfkit_lab"), ()),
    ("tfkit", ("autograder", "course", "tfkit_lab", "research", "bench"), ()),
    ("course", ("research", "bench"), ()),
    ("autograder", ("course",), ()),
    ("autograder", ("tfkit",), ("autograder.checks",)),
    ("tfkit.nn", ("tfkit.models", "tfkit.hub", "tfkit.decode", "tfkit.train", "tfkit.tools"), ()),
    ("tfkit.models", ("tfkit.decode", "tfkit.train", "tfkit.tools"), ()),
    ("tfkit.objectives", ("tfkit.models", "tfkit.decode", "tfkit.train", "tfkit.tools"), ()),
    ("tfkit.pipeline", ("tfkit.models", "tfkit.train", "tfkit.tools"), ()),
    ("tfkit.decode", ("tfkit.models", "tfkit.tools"), ()),
    ("tfkit.train", ("tfkit.models", "tfkit.tools"), ()),
    ("autograder.api", ("torch", "tfkit", "numpy", "nbgrader"), ()),
    ("tfkit_lab", ("course", "tfkit.models", "tfkit.train"), ()),
]


@pytest.mark.parametrize(("who", "whom", "but"), RULES, ids=[f"{who} !-> {','.join(whom)}" for who, whom, _ in RULES])
def test_direction(who: str, whom: tuple[str, ...], but: tuple[str, ...]) -> None:
    assert any(under(name, who) for name in MODULES), f"no module under {who}: the rule guards nothing"
    assert offenders(who, whom, but) == []


@pytest.mark.parametrize("module", ["tfkit", "autograder", "autograder.api", "autograder.cli", "course", "tfkit_lab"])
def test_cheap_to_import(module: str) -> None:
    """A command line and a Jupyter server must not pay for torch before they need it."""
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"import {module} loads torch, or fails: {done.stderr[-500:]}"


@pytest.mark.parametrize("module", ["tfkit.train.schedules", "tfkit.train.adamw", "tfkit.text.bpe"])
def test_exercises_of_training_need_no_tokenizers(module: str) -> None:
    """The kernel in a browser has neither `tokenizers` nor `torch.distributed`."""
    code = f"import sys; sys.modules |= dict.fromkeys(['tokenizers', 'torch.distributed']); import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]


def test_courses_and_records_are_read_without_what_only_workers_need() -> None:
    """`[grading]` has nbgrader, and not what `[cluster]` adds."""
    absent = ["psutil", "dask", "distributed"]
    modules = "autograder.cluster.course, autograder.cluster.history, autograder.cluster.scores"
    code = f"import sys; sys.modules |= dict.fromkeys({absent}); import {modules}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]


@pytest.mark.parametrize("package", ["tfkit.text", "tfkit.train"])
def test_the_names_of_a_lazy_package_are_found_where_their_types_are_declared(package: str) -> None:
    module = importlib.import_module(package)
    declared = {
        alias.name: node.module
        for node in ast.walk(ast.parse(MODULES[package].read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and under(str(node.module), package)
        for alias in node.names
    }
    assert set(declared) == set(module.__all__) <= set(dir(module))
    assert {name: getattr(module, name).__module__ for name in declared} == declared
    with pytest.raises(AttributeError, match="has no attribute 'absent'"):
        _ = module.absent
