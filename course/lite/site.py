"""Writes a JupyterLite site with the course: `python -m course.build --lite DIR`.

The site contains what its kernel needs: this project's wheel and a few pure ones, packed from the installed packages,
and torch: a wheel from `--wheels`, built for Pyodide, or else pyborch with what `browser_torch/` adds. NumPy comes with
Pyodide, whose full distribution `--pyodide` names; without it the page fetches Pyodide from its own network address, as
every JupyterLite does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.lite import wheels as pack
from course.lite.first_page import write_first_page
from course.lite.hosting import write_hosting
from course.settings import LessonError, read
from tfkit_course import install
from tfkit_lab import course, family

PURE = ("comm", "polib", "anywidget", "psygnal", "ipywidgets", "jupyterlab_widgets", "latex2mathml", "fsrs")
# matplotlib is not among them: the kernel fetches it with the first cell that imports it, and a verdict needs none
FROM_PYODIDE = ("numpy", "jinja2", "jsonschema", "typing-extensions")
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
# they need a server
DISABLED = ("@jupyter/nbgrader", "jupyterlab-jupytext", "@tfkit/lab:instructor")
NEEDS_LAB = Path(__file__).with_name("needs_lab.json")
START, ABOUT = "tab-start", "tab-about"
WORDS = {  # the second with the reason, which is in English
    "en": (
        "> **In this tab.** Python runs in your browser. **Check** runs the grader's checks here, beside your code: "
        "its verdict is for practice and not a grade. Your submission is graded elsewhere, in a sandbox. There is no "
        "terminal, so commands in the text (`tfkit get …`, `autograder …`) need the full lab, and so do the cells that "
        "load a published model or train one for minutes.",
        "> **This exercise needs the full lab.** torch in the browser cannot check it: {why}. Read it here, write it, "
        "and check it in a lab.",
    ),
    "fr": (
        "> **Dans cet onglet.** Python s'exécute dans votre navigateur. **Check** pose ici, à côté de votre code, les "
        "questions du correcteur : son verdict sert à s'exercer et n'est pas une note. Ce que vous rendez est noté "
        "ailleurs, dans un bac à sable. Il n'y a pas de terminal : les commandes du texte (`tfkit get …`, "
        "`autograder …`) demandent un vrai laboratoire, comme les cellules qui chargent un modèle publié ou en "
        "entraînent un pendant des minutes.",
        "> **Cet exercice demande le vrai laboratoire.** Le torch de cet onglet ne peut pas le vérifier : {why}. "
        "Lisez-le ici, écrivez-le, et vérifiez-le dans un laboratoire.",
    ),
}


@dataclass(frozen=True)
class WrittenSite:
    """What was written, and which torch the kernel has."""

    folder: Path
    notebooks: list[str]
    torch: str
    offline: bool  # no request leaves the site's origin


def write_site_of(
    course_dir: Path, units: Sequence[str] | None, folder: Path, wheels: Path | None, pyodide: Path | None
) -> str:
    """Make the students' notebooks of a course that was built, write its site, and print its path. Raises
    LessonError."""
    from course.release import generate

    _check_folders(folder, wheels, pyodide)
    names = list(units) if units else [unit.name for unit in read(course_dir)]
    for name in names:
        generate(course_dir.resolve(), name)
    released = [course_dir / "release" / name / f"{name}.ipynb" for name in names]
    written = write_site(folder, released, wheels=wheels, pyodide=pyodide)
    where = "nothing is fetched from elsewhere" if written.offline else "Pyodide is fetched from its own site"
    count = f"{len(names)} notebook{'s' * (len(names) != 1)}"
    return f"site      {folder}: {count}, {written.torch}; {where}"


def write_site(
    folder: Path, released: Sequence[Path], *, wheels: Path | None = None, pyodide: Path | None = None
) -> WrittenSite:
    """The site in `folder`, with these released notebooks.

    wheels: a folder of wheels for Pyodide, which may include torch; pyodide: a folder with Pyodide's full
    distribution. Raises LessonError if something is missing; then nothing is written.
    """
    _check_folders(folder, wheels, pyodide)
    with tempfile.TemporaryDirectory() as kept:
        work = Path(kept)
        torch = _write_wheels(work / "pypi", wheels)
        partial = torch.startswith("torch-0+")
        for path in released:
            target = work / "content" / path.name
            target.parent.mkdir(exist_ok=True)
            target.write_text(nbformat.writes(in_tab(nbformat.read(path, as_version=4), partial)) + "\n", "utf-8")
        (work / "jupyter-lite.json").write_text(json.dumps(_settings(pyodide is not None), indent=1), "utf-8")
        if pyodide is not None:
            shutil.copytree(pyodide, work / "static" / "pyodide")
        _build(work, work / "out")
        _write_answers(work / "content", work / "out" / "tfkit")
        write_first_page(work / "out", first_language(released))
        write_hosting(work / "out")
        shutil.copytree(work / "out", folder, dirs_exist_ok=True)
    return WrittenSite(folder, [path.name for path in released], torch, pyodide is not None)


def first_language(released: Sequence[Path]) -> str:
    """The language of the first notebook; "en" if there is none."""
    return language_of(nbformat.read(released[0], as_version=4)) if released else "en"


def language_of(notebook: NotebookNode) -> str:
    """The language that a notebook was translated into; "en" if into none."""
    return str(notebook.metadata.get("tfkit", {}).get("language", "en"))


def in_tab(notebook: NotebookNode, partial: bool) -> NotebookNode:
    """A released notebook for a tab: what differs here, a cell that installs, and a note where an exercise needs the
    full lab."""
    about, lacking = WORDS.get(language_of(notebook), WORDS["en"])
    start = new_code_cell(START_CODE, id=START, metadata={"tfkit": {"role": "demo"}})
    cells = [notebook.cells[0], new_markdown_cell(about, id=ABOUT), start]
    reasons = needs_lab() if partial else {}
    for cell in notebook.cells[1:]:
        mark = cell.metadata.get("tfkit", {})
        if mark.get("role") == "exercise" and mark.get("exercise") in reasons:
            text = lacking.format(why=reasons[mark["exercise"]])
            cells.append(new_markdown_cell(text, id=f"needs-lab-{mark['exercise'].replace('.', '-')}"))
        cells.append(cell)
    notebook.cells = cells
    nbformat.validate(notebook)
    return notebook


START_CODE = f"""# The course comes into this tab: run this first, and again after each restart. It takes a minute.
import sys

if sys.platform == "emscripten":
    import piplite

    await piplite.install({[*FROM_PYODIDE]!r})
    await piplite.install({["torch", "pyborch", "tfkit-course", *PURE]!r}, deps=False)"""


def needs_lab() -> dict[str, str]:
    """The exercises that the browser's torch cannot check, each with the reason."""
    reasons: dict[str, str] = json.loads(NEEDS_LAB.read_text(encoding="utf-8"))
    return reasons


def _check_folders(folder: Path, wheels: Path | None, pyodide: Path | None) -> None:
    if folder.exists() and any(folder.iterdir()) and not (folder / "jupyter-lite.json").exists():
        raise LessonError(f"{folder} holds other files: name an empty folder, or a site that was written before")
    if wheels is not None and not list(wheels.glob("*.whl")):
        raise LessonError(
            f"{wheels} holds no wheel: name the folder with torch's wheel for Pyodide, or leave --wheels out"
        )
    for name in ("pyodide.mjs", "pyodide-lock.json"):
        if pyodide is not None and not (pyodide / name).exists():
            raise LessonError(f"{pyodide} lacks {name}: unpack Pyodide's full distribution and name its folder")


def _write_wheels(target: Path, given: Path | None) -> str:
    """Writes all wheels; returns the file name of torch's."""
    for name, members in (pack.project_wheel(), *map(pack.distribution, PURE)):
        pack.write_wheel(target, name, members)
    for file in sorted(given.glob("*.whl")) if given else []:
        shutil.copyfile(file, target / file.name)
    found = sorted(target.glob("torch-*.whl"))
    if found:
        return found[0].name
    pack.write_wheel(target, *pack.distribution("pyborch"))
    return pack.write_wheel(target, *pack.browser_torch_wheel()).name


def _settings(offline: bool) -> dict[str, Any]:
    """The site's settings: no other package index than its own if Pyodide is part of the site."""
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "tfkit",
            "tfkitTab": "true",
            "disabledExtensions": list(DISABLED),
            "litePluginSettings": {KERNEL: {"disablePyPIFallback": offline}},
        },
    }


def _build(work: Path, out: Path) -> None:
    call = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", str(work), "--output-dir", str(out)]
    call += ["--contents", str(work / "content"), "--no-sourcemaps", "--no-libarchive", "--apps", "lab"]
    done = subprocess.run(call, capture_output=True, text=True, cwd=work, check=False)
    if done.returncode:
        errors = (done.stderr or done.stdout).strip().splitlines()
        raise LessonError(f"jupyter lite build failed ({errors[-1] if errors else 'it wrote no output'}): "
                          f"{install('lite')} brings what it needs")  # fmt: skip


def _write_answers(content: Path, folder: Path) -> None:
    """The server's answers for the course panel and the family view, as files."""
    folder.mkdir(parents=True)
    (folder / "course").write_text(json.dumps({"units": course.units(content)}), encoding="utf-8")
    (folder / "family").write_text(json.dumps({"models": family.models()}), encoding="utf-8")
