"""Writes the API reference, a page for each module, from docstrings: `python tools/api_reference.py build/api`.

Needs no network. If pdoc warns, for instance of an unknown name, it writes nothing and exits with 1.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

os.environ["PDOC_ALLOW_EXEC"] = "1"  # nbconvert asks for pandoc's version when it is imported

import pdoc
import pdoc.extract
import pdoc.render

ROOT = Path(__file__).parents[1]
PACKAGES = ("tfkit", "autograder", "tfkit_lab")
# documented elsewhere: pages by `tfkit read`; `inside` runs only in a box
LEFT_OUT = ("tfkit.pages", "autograder.sandbox.inside", "autograder.nbgrader.nbgrader_config")
# pdoc does not find the module of a NamedTuple, nor of fields that a dataclass inherits from one of another module; it
# shows their annotations verbatim
KNOWN_WARNINGS = ("Error parsing type annotation ForwardRef(", "for autograder.grade.practice.PracticeGrader.__init__.")


def public_modules(package: str) -> list[str]:
    """A package and every module in it without a leading underscore in its path: pdoc alone would stop at an
    `__all__`."""
    found = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    names = [package, *(module.name for module in found)]
    private = re.compile(r"\._|^(?:" + "|".join(map(re.escape, LEFT_OUT)) + r")(?:\.|$)")
    return [name for name in names if not private.search(name)]


def not_installed(modules: Iterable[str]) -> dict[str, str]:
    """Module that cannot be imported -> the package of an extra that it needs and that is not installed."""
    missing = {}
    for name in modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not error.name or error.name.partition(".")[0] in PACKAGES:
                raise
            missing[name] = error.name
    return missing


def without_repetitions(names: Iterable[str]) -> list[str]:
    """The modules that pdoc does not find below an earlier one."""
    kept: list[str] = []
    found: set[str] = set()
    for name in names:
        if name not in found:
            kept.append(name)
            found.update(pdoc.extract.walk_specs([name]))
    return kept


def resolve_lazy_names(name: str) -> None:
    """Import what the module's `__getattr__` would import on demand: pdoc reads only the dictionary."""
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        setattr(module, public, getattr(module, public))


# every layer's constructor inherits it
TORCHS_OWN = re.compile(r'<div class="docstring"><p>Initialize internal Module state, .*?</p>\s*</div>')


def leave_out_torchs_own(folder: Path) -> None:
    """Remove torch's own docstring from the constructors of layers."""
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if (changed := TORCHS_OWN.sub("", text)) != text:
            page.write_text(changed, encoding="utf-8")


LINK = re.compile(r'<a href="(?P<path>[^"#:]*)#(?P<anchor>[^"]+)">(?P<words>.*?)</a>', re.S)


def unlink_unknown(folder: Path) -> None:
    """Replace links to missing anchors by their text: pdoc links to members inherited from a class without an entry,
    and to words in docstrings of other packages."""
    pages = {page.resolve(): page.read_text(encoding="utf-8") for page in folder.rglob("*.html")}
    anchors = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    for page, text in pages.items():

        def keep(link: re.Match[str], page: Path = page) -> str:
            target = (page.parent / link["path"]).resolve() if link["path"] else page
            return link[0] if link["anchor"] in anchors.get(target, ()) else link["words"]

        if (changed := LINK.sub(keep, text)) != text:
            page.write_text(changed, encoding="utf-8")


def write(target: Path, packages: Sequence[str] = PACKAGES) -> list[str]:
    """Replace `target` by the reference of these packages; if pdoc warns, return the warnings and write nothing."""
    pdoc.render.configure(
        docformat="markdown",
        show_source=False,
        template_directory=ROOT / "tools" / "api",
        footer_text=f"Made from docstrings by pdoc {pdoc.__version__}",
    )
    public = [name for package in packages for name in public_modules(package)]
    missing = not_installed(public)
    for name, needed in missing.items():
        print(f"the reference has no page for {name}: {needed} is not installed", file=sys.stderr)
    left_out = (*LEFT_OUT, *missing)
    present = [name for name in public if name not in missing]
    for name in present:
        resolve_lazy_names(name)
    modules = without_repetitions(present)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", module=r"pdoc\b")
        # a private name that torch declares and never sets has no page
        warnings.filterwarnings("ignore", message=r"Cannot determine where \S+\._\w+ is taken from")
        pdoc.pdoc(*modules, *(f"!{name}" for name in left_out), output_directory=Path(folder))
        lines = [str(warning.message).strip() for warning in found]
        problems = [line for line in lines if not any(name in line for name in (*left_out, *KNOWN_WARNINGS))]
        if not problems:
            leave_out_torchs_own(Path(folder))
            unlink_unknown(Path(folder))
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target)
    return problems


if __name__ == "__main__":
    problems = write(Path(sys.argv[1]))
    for problem in problems:
        print(f"pdoc: {problem}", file=sys.stderr)
    if not problems:
        print(f"{len(list(Path(sys.argv[1]).rglob('*.html')))} pages: {sys.argv[1]}/index.html")
    sys.exit(bool(problems))
