"""Which package may import which: read from the source, so that a slip fails here and not in a student's lab."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("tfkit", "autograder", "course", "tfkit_course", "tfkit_lab")
NOT_OURS = ("course.lite.browser_torch", "course.templates")  # another torch, and the files of a package to be


def modules() -> dict[str, Path]:
    """Dotted name -> file, of every module of the project but the units' own folders, and what attackers hand in."""
    found = {}
    for package in OURS:
        base = ROOT / "extension" if package == "tfkit_lab" else ROOT
        for file in sorted((base / package).rglob("*.py")):
            parts = file.relative_to(base).with_suffix("").parts
            if not {"units", "node_modules", "hostile", "clock"} & set(parts[:-1]):
                found[".".join(parts).removesuffix(".__init__")] = file
    return found


def absolute(node: ast.ImportFrom, package: str) -> str:
    """The dotted name of the module that `from … import` names in a module of this package."""
    up = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    return ".".join([*up, *([node.module] if node.module else [])])


@cache
def parsed(file: Path) -> ast.Module:
    """A file's syntax tree, read once for all tests: several of them go through every file."""
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(name: str, file: Path) -> set[str]:
    """Dotted names that a module imports anywhere, inside functions too; relative ones made absolute."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    seen: set[str] = set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            seen |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, package)
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
        for node in ast.walk(parsed(MODULES[package]))
        if isinstance(node, ast.ImportFrom) and under(str(node.module), package)
        for alias in node.names
    }
    assert set(declared) == set(module.__all__) <= set(dir(module))
    assert {name: getattr(module, name).__module__ for name in declared} == declared
    with pytest.raises(AttributeError, match="has no attribute 'absent'"):
        _ = module.absent


# -- packages: the folders right below each of ours --------------------------------------------------------------------


def resolve(target: str) -> str:
    """The module of ours that an imported name is, or is in; "" for others."""
    while target and target not in MODULES:
        target = target.rpartition(".")[0]
    return target


def package_of(module: str) -> str:
    """The folder right below one of OURS, with whatever lies in it; a module beside those folders stands for itself."""
    package, *rest = module.split(".")
    inside = len(rest) > 1 or (rest and MODULES[module].name == "__init__.py")
    return f"{package}.{rest[0]}" if inside else module


def place(module: str, room: str) -> str:
    """What of `room` a module is, or is in: a folder or a module right below it; of no room, `package_of`."""
    if not room:
        return package_of(module)
    return ".".join(module.split(".")[: room.count(".") + 2]) if under(module, room) else ""


def rooms() -> dict[str, set[str]]:
    """Package below one of OURS -> the folders in it, if it has any."""
    found: dict[str, set[str]] = {}
    for name, file in MODULES.items():
        if file.name == "__init__.py" and name.count(".") >= 2 and not under(name, *NOT_OURS):
            found.setdefault(name.rpartition(".")[0], set()).add(name)
    return found


@cache
def edges(room: str = "") -> dict[tuple[str, str], set[str]]:
    """(package, package that it imports) -> which module imports what; imports in functions and for types count too.

    room: a package; then its folders and modules in place of all packages. Importing a package's own `__init__` to get
    at a module in it counts as importing that module alone.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for name, targets in IMPORTS.items():
        for target in targets:
            module = resolve(target)
            passed_through = target == module and any(resolve(other) != module for other in targets
                                                      if other.startswith(f"{target}."))  # fmt: skip
            ends = (place(name, room), place(module, room) if module else "")
            if all(ends) and ends[0] != ends[1] and not passed_through:
                found.setdefault(ends, set()).add(f"{name} imports {module}")
    return found


# imports that would close a cycle: (from, to) -> why they are there
CLOSING = {
    ("tfkit.models", "tfkit.hub"): "`model.save_pretrained(…)` is what users of transformers write",
    ("tfkit_course", "tfkit_course.launch"): "console scripts of earlier installations import `tfkit_course:main`",
}


def cycles(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs that lie on a cycle."""
    after: dict[str, set[str]] = {}
    for start, end in pairs:
        after.setdefault(start, set()).add(end)

    def reaches(start: str) -> set[str]:
        seen, due = set(), [start]
        while due:
            new = after.get(due.pop(), set()) - seen
            seen |= new
            due += new
        return seen

    return sorted((start, end) for start, ends in after.items() for end in ends if start in reaches(end))


def test_packages_do_not_import_each_other_in_a_cycle() -> None:
    """A cycle hides behind imports in functions, and then no package can be read, or loaded, without all the others."""
    assert len(edges()) > 200
    wrong = cycles(edges().keys() - CLOSING.keys())
    assert not wrong, "\n".join(f"{start} -> {end}: {sorted(edges()[start, end])[:3]}" for start, end in wrong)


@pytest.mark.parametrize("room", ["autograder.benchmark", "autograder.checks", "autograder.sandbox"])
def test_a_folder_in_a_package_is_on_no_cycle_with_what_lies_beside_it(room: str) -> None:
    assert rooms().keys() == {"autograder.benchmark", "autograder.checks", "autograder.sandbox"}
    wrong = [pair for pair in cycles(edges(room)) if rooms()[room] & set(pair)]
    assert not wrong, "\n".join(f"{start} -> {end}: {sorted(edges(room)[start, end])[:3]}" for start, end in wrong)


def test_each_allowed_cycle_is_one() -> None:
    for pair in CLOSING:
        assert pair in cycles({*(edges().keys() - CLOSING.keys()), pair}), f"{pair} can go from CLOSING"


def test_a_cycle_is_found() -> None:
    assert cycles([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]) == [("b", "c"), ("c", "b")]


def test_the_root_of_the_autograder_has_few_modules_of_its_own() -> None:
    alone = {name for name in MODULES if under(name, "autograder") and package_of(name) == name}
    there = {name for name in alone if MODULES[name].name != "__init__.py" or name == "autograder"}
    assert there - {"autograder.pytest_plugin"} == {
        "autograder", "autograder.__main__", "autograder.api", "autograder.cli", "autograder.doctor"
    }  # fmt: skip


def test_the_handbook_lists_the_packages_of_the_autograder_from_the_bottom_up() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Inside the autograder\n")[2].partition("\n## ")[0]
    rows = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
    place = {f"autograder.{name}": number for number, names in enumerate(rows) for name in names}
    packages = {package_of(name) for name in MODULES if under(name, "autograder")}
    assert place.keys() == {name for name in packages if name not in MODULES or MODULES[name].name == "__init__.py"} - {
        "autograder"
    }
    upwards = [pair for pair in edges() if place.get(pair[0], 99) < place.get(pair[1], 0)]
    assert not upwards


# -- imports in functions ----------------------------------------------------------------------------------------------


@cache
def late_imports(name: str) -> list[tuple[str, str]]:
    """(module that is imported, statement) of each import in a function; a name of a package counts with its module."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    found: list[tuple[str, str]] = []
    for function in ast.walk(parsed(MODULES[name])):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                found += ((alias.name, ast.unparse(node)) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = absolute(node, package)
                found += ((resolve(f"{base}.{alias.name}") or base, ast.unparse(node)) for alias in node.names)
    return found


@cache
def imported_at_once(name: str) -> set[str]:
    """Dotted names that importing a module imports: not those in functions, and not those for types alone."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    pending: list[ast.AST] = [*parsed(MODULES[name]).body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, package)
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending += ast.iter_child_nodes(node)
    return found


@cache
def loaded(target: str, already: str = "") -> tuple[frozenset[str], frozenset[str]]:
    """The modules of ours, and the names of others' packages, that importing `target` loads.

    already: a module that is being loaded, so that neither it nor the packages around it are gone through.
    """
    around = {already.rsplit(".", n)[0] for n in range(already.count(".") + 1)} if already else set()
    ours: set[str] = set()
    others: set[str] = set()
    pending = [target]
    while pending:
        one = pending.pop()
        if not (module := resolve(one)):
            others.add(one.partition(".")[0])
            continue
        parts = module.split(".")
        for name in {".".join(parts[:n]) for n in range(1, len(parts) + 1)} - ours:
            ours.add(name)
            pending += imported_at_once(name) if name not in around else ()
    return frozenset(ours), frozenset(others - sys.stdlib_module_names)


def loads(name: str, target: str) -> frozenset[str]:
    """The packages of others that a late import in the module `name` loads, and importing that module does not."""
    return loaded(target)[1] - loaded(name)[1]


def closes_cycle(name: str, target: str) -> bool:
    """Whether importing `target` at the top of the module `name` would import that module again."""
    return name in loaded(target, already=name)[0]


TORCH = "torch takes seconds to load, and this comes with it"
COMMAND = "a command loads what it needs, and refuses in a line where that is not installed"
EXTRA = "of an extra that need not be installed, or needs a package of one"
CONSOLE = "rich is loaded where something is drawn"
KERNEL = "a student's kernel loads nothing until it checks"
CYCLE = "it imports this module, or its package, at its top"
CHILD = "first the box's process is started, so that both load at the same time"
PARALLEL = "only several workers need it"
SHARDS = "a part of torch that only training on many processes, or into TensorBoard, needs"
COMPILER = "torch's compiler takes seconds to load"
BROWSER = "the browser's torch has no such module"
POSIX = "Windows has no such module"
DRAWING = "of tfkit, which loads torch: the lab's server has none"
# (who, what) -> why it is imported in a function: a start that must be quick, or a package that may be absent
LATE = {
    ("autograder", "autograder.checking.notebook"): KERNEL,
    ("autograder", "autograder.checks"): TORCH,
    ("autograder", "autograder.corpus.judge"): TORCH,
    ("autograder", "autograder.diagnosis.loops"): TORCH,
    ("autograder", "autograder.grade"): TORCH,
    ("autograder", "autograder.hunts.notebook"): KERNEL,
    ("autograder", "autograder.ordering.notebook"): KERNEL,
    ("autograder", "autograder.own_tests"): TORCH,
    ("autograder", "autograder.questions.notebook"): KERNEL,
    ("autograder.nbgrader.execute", "autograder.questions.graded"): TORCH,
    ("autograder", "autograder.sandbox.client"): TORCH,
    ("autograder", "numpy"): "a box starts without it, and has it where an answer needs it",
    ("autograder", "rich"): CONSOLE,
    ("autograder", "torch"): TORCH,
    ("autograder.assistants.command", "autograder"): COMMAND,
    ("autograder.assistants.rules", "autograder.cluster.scores"): EXTRA,
    ("autograder.assistants.rules", "autograder.report.recipes"): EXTRA,
    ("autograder.benchmark.command", "autograder"): COMMAND,
    ("autograder.benchmark.command", "concurrent.futures"): PARALLEL,
    ("autograder.benchmark.command", "multiprocessing"): PARALLEL,
    ("autograder.capstone.command", "autograder"): COMMAND,
    ("autograder.capstone.command", "nbgrader"): EXTRA,
    ("autograder.checking.child", "autograder"): CHILD,
    ("autograder.checking.fork_child", "autograder"): CHILD,
    ("autograder.checking.notebook", "IPython"): "the command line needs no kernel",
    ("autograder.checking.notebook", "autograder"): KERNEL,
    ("autograder.checking.pytest_plugin", "autograder"): "every pytest loads the plugin, whatever it tests",
    ("autograder.cli", "autograder"): COMMAND,
    ("autograder.cluster.grading_process", "autograder.cluster.job"): CYCLE,
    ("autograder.cluster.grading_process", "distributed"): EXTRA,
    ("autograder.console.kernel", "IPython"): "the command line needs no kernel",
    ("autograder.corpus.command", "autograder"): COMMAND,
    ("autograder.doctor", "autograder.cluster.course"): EXTRA,
    ("autograder.grade.process", "psutil"): EXTRA,
    ("autograder.hunts.command", "autograder"): COMMAND,
    ("autograder.launch.command", "segno"): EXTRA,
    ("autograder.hub.needs", "pwd"): POSIX,
    ("autograder.maintenance.command", "autograder"): COMMAND,
    ("autograder.marking.command", "autograder"): COMMAND,
    ("autograder.ordering.command", "autograder"): COMMAND,
    ("autograder.ordering.notebook", "IPython"): "the command line needs no kernel",
    ("autograder.questions.command", "autograder"): COMMAND,
    ("autograder.questions.notebook", "IPython"): "the command line needs no kernel",
    ("autograder.questions.inside", "torch"): "a box counts products only where a question asks for them",
    ("autograder.report.command", "autograder"): COMMAND,
    ("autograder.variants.command", "autograder"): COMMAND,
    ("autograder.viva.command", "autograder"): COMMAND,
    ("autograder.sandbox.inside.agent", "autograder.sandbox.inside.shell"): "IPython is for boxes that run whole cells",
    ("autograder.sandbox.inside.shell", "IPython"): "only a cell that leaves figures open needs it",
    ("autograder.sandbox.inside.zygote", "random"): "only a forked child needs it",
    ("autograder.serve", "autograder.serve.status"): "only the Hub's service has this page",
    ("autograder.serve.passback", "autograder.report.lti"): EXTRA,
    ("course", "autograder.cluster.course"): EXTRA,
    ("course.lite.trial", "autograder"): TORCH,
    ("course", "ipykernel"): EXTRA,
    ("course", "nbgrader"): EXTRA,
    ("course", "course.release"): EXTRA,
    ("tfkit.data.translation", "rapidfuzz"): EXTRA,
    ("tfkit.data.translation", "sacrebleu"): EXTRA,
    ("tfkit.decode.single_row", "torch"): COMPILER,
    ("tfkit.decode.single_row", "tfkit.decode.single_row_kernels"): "Triton is there with a GPU alone",
    ("tfkit.decode.generate", "tfkit.decode.stop_strings"): "ids alone need no tokenizer",
    ("tfkit.hub", "gguf"): EXTRA,
    ("tfkit.hub", "rich"): CONSOLE,
    ("tfkit.models", "tfkit.hub"): "a package above: see CLOSING",
    ("tfkit.models", "tfkit"): "a package above, for `model.generate`",
    ("tfkit.nn", "torch.nn.attention"): BROWSER,
    ("tfkit.retrieve", "faiss"): EXTRA,
    ("tfkit.text", "tfkit.models"): "its languages are in a model's file, which loads torch",
    ("tfkit.tools", "tfkit"): COMMAND,
    ("tfkit.tools", "torch"): COMMAND,
    ("tfkit.tools", "transformers"): EXTRA,
    ("tfkit.train", "rich"): CONSOLE,
    ("tfkit.train", "resource"): POSIX,
    ("tfkit.train", "torch"): SHARDS,
    ("tfkit_course.launch", "tfkit"): "first it is certain that `tfkit` is this project's",
    ("tfkit_course", "pwd"): POSIX,
    ("tfkit_lab", "IPython"): "the server has no kernel",
    ("tfkit_lab", "autograder"): EXTRA,
    ("tfkit_lab", "jsonschema"): "a trace is read far more often than it is checked",
    ("tfkit_lab", "jupytext"): EXTRA,
    ("tfkit_lab", "nbclient"): EXTRA,
    ("tfkit_lab", "nbconvert"): EXTRA,
    ("tfkit_lab", "nbformat"): EXTRA,
    ("tfkit_lab.family", "tfkit"): "the server loads it for the page of models alone",
    ("tfkit_lab.widgets", "tfkit.decode"): DRAWING,
    ("tfkit_lab", "tfkit_lab.prediction_widget"): "a card without a widget needs no ipywidgets",
    ("tfkit_lab", "tfkit_lab.recall.widget"): "cards are listed where there are no ipywidgets",
    ("tfkit_lab", "tfkit_lab"): "a kernel wants one widget, Jupyter the routes: each loads its own",
}


def reasons(name: str, target: str) -> set[tuple[str, str]]:
    """The entries of LATE that allow a module this late import."""
    return {entry for entry in LATE if under(name, entry[0]) and under(target, entry[1])}


def always_installed() -> set[str]:
    """The packages that every installation of the project has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {re.split(r"[^\w-]", line)[0].replace("-", "_") for line in project["dependencies"]}


def is_true(reason: str, name: str, target: str) -> bool:
    """Whether a reason for a late import is true, as far as the imports themselves can tell; True for others."""
    new = loads(name, target)
    if reason in (TORCH, DRAWING):
        return "torch" in new
    if reason == EXTRA:
        return bool(new - always_installed())
    if reason in (COMMAND, KERNEL):
        return bool(new)
    if reason == CYCLE:
        return closes_cycle(name, target)
    return "rich" in new if reason == CONSOLE else True


def test_reasons_that_imports_can_tell_are_told_apart() -> None:
    assert is_true(TORCH, "autograder.doctor", "torch") and not is_true(TORCH, "autograder.sandbox.client", "torch")
    assert is_true(EXTRA, "autograder.cli", "nbgrader") and not is_true(EXTRA, "autograder.cli", "polib")
    assert is_true(CYCLE, "autograder.sandbox.base", "autograder.sandbox.client")
    assert not is_true(CYCLE, "autograder.sandbox.client", "autograder.sandbox.inside.wire")
    assert not is_true(COMMAND, "autograder.cli", "autograder.sandbox")


def test_an_import_in_a_function_has_a_reason() -> None:
    """At the top is where a reader, and a check for cycles, looks for what a module needs."""
    ours = [name for name in MODULES if not under(name, *NOT_OURS)]
    wrong = {
        f"{name}: {statement}"
        for name in ours
        for target, statement in late_imports(name)
        if not any(is_true(LATE[entry], name, target) for entry in reasons(name, target))
    }
    assert not wrong, "move these to the top, or give LATE a reason that is true:\n" + "\n".join(sorted(wrong))


def test_each_reason_is_needed() -> None:
    used = {
        entry
        for name in MODULES
        for target, _ in late_imports(name)
        for entry in reasons(name, target)
        if is_true(LATE[entry], name, target)
    }
    assert LATE.keys() == used


@pytest.mark.parametrize("folder", NOT_OURS)
def test_what_is_not_held_to_reasons_is_there(folder: str) -> None:
    assert any(under(name, folder) for name in MODULES)
