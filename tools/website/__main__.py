"""Builds the site: `python -m tools.website DIR [--fast]`; exits with 1 and prints a line for each problem."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from course import glossary, units
from course.lite.first_page import MODEL, write_scripts
from course.settings import LessonError, Unit, read, unit_names
from tfkit_course.command_line import make_parser
from tfkit_lab.views import views as every_view
from tools.website import DOCS, ROOT, SiteError, book, check, pages, views, zoo

LANGUAGES = {"en": "The course", "fr": "Le cours, en français"}
HERE = DOCS / "site"
TAB = "tab"  # the folder of the course in the browser
KEPT = ROOT / "build" / "site-anatomies"
NO_REFERENCE = re.compile(r"\bapi/[\w/]+\.html: there is no such file")


def course(source: Path, names: list[str]) -> dict[str, str]:
    """Page -> text of the course, in each language in which a unit is available."""
    settings = {unit.name: unit for unit in read()}
    found: dict[str, str] = {}
    for language, title in LANGUAGES.items():
        base = "course" if language == "en" else f"course/{language}"
        shown = [
            folder for folder in units()
            if folder.name in names and (language == "en" or (folder / "locale" / f"{language}.po").exists())
        ]  # fmt: skip
        for folder in shown:
            root = "../" * (base.count("/") + 1)
            page = book.Page(folder, settings[folder.name], language, source / "_pictures", root)
            found[f"{base}/{folder.name}"] = page.text()
            if page.unknown and language == "en":
                print(f"{folder.name}: {page.unknown} cells have changed since they were run; "
                      f"python -m tools.website.outputs {folder.name}", file=sys.stderr)  # fmt: skip
        found[f"{base}/index"] = contents(title, [settings[folder.name] for folder in shown], language)
    return found


def contents(title: str, units: list[Unit], language: str) -> str:
    """The first page of the course, a card for each unit."""
    cards = "".join(
        f'<a class="site-card" href="{unit.name}.html"><b>{unit.name[:2]}</b>'
        f"<span>{html.escape(unit.title or unit.name)}</span>"
        f"<small>{f'{unit.minutes:g} min' if unit.minutes else ''}</small></a>"
        for unit in units
    )
    about = (
        "Each unit is a notebook: read, predict, write the cell that is asked for, press **Check**. Here they are as a "
        "book, with what their cells show and without any solution; `make lab` opens them as a student sees them."
        if language == "en"
        else "Chaque unité est un notebook : lire, prédire, écrire la cellule demandée, presser **Check**. Le code "
        "reste en anglais."
    )
    more = ["fr/index", "glossary"] if language == "en" else []
    return f"# {title}\n\n{about}\n\n{book.raw(f'<div class=site-cards>{cards}</div>')}\n\n" + pages.toctree(
        [unit.name for unit in units] + more, hidden=True
    )


def write_sources(source: Path, names: list[str], kept: Path | None, tab: bool = False) -> None:
    """Write everything that Sphinx reads; kept: see zoo.write_page; tab: whether the course can be started in the
    browser. Raises SiteError or LessonError for invalid sources."""
    pictures = source / "_pictures"
    found = pages.documents(pictures) | pages.handbook() | pages.library() | course(source, names)
    found |= {f"zoo/{name}": zoo.write_page(name, kept) for name in zoo.docstrings()} | {"zoo/index": zoo.index()}
    shown = (DOCS / "gallery.html").read_text(encoding="utf-8")
    found["gallery"] = f"# Gallery\n\n{book.raw(views.gallery(shown, '').replace('<h1', '<h1 hidden', 1))}\n"
    found["contents"] = "# Contents\n\n" + pages.toctree(
        ["start/readme", "course/index", "gallery", "zoo/index", "handbook/index", "library/index", "decisions/index"],
        hidden=True,
    )
    for page, text in found.items():
        (source / f"{page}.md").parent.mkdir(parents=True, exist_ok=True)
        (source / f"{page}.md").write_text(text, encoding="utf-8")
    shutil.copytree(HERE, source, dirs_exist_ok=True)
    static = source / "_static"
    static.mkdir(exist_ok=True)
    for file in ("site.css", "views.js", "landing.js", "reach.js"):
        shutil.move(source / file, static / file)
    shutil.copy(ROOT / "autograder" / "feedback" / "tokens.css", static / "tokens.css")
    shutil.copytree(DOCS / "images", static / "images", dirs_exist_ok=True)
    write_scripts(static)
    views.write_scripts(static / "views", set(every_view()), set(LANGUAGES) - {"en"})
    (source / "facts.json").write_text(json.dumps(facts(tab)), encoding="utf-8")


def facts(tab: bool) -> dict[str, object]:
    """Numbers, the recorded run and the button of the first page; tab: whether the course can be started in the
    browser."""
    trace = json.loads((HERE / "hero.json").read_text(encoding="utf-8"))
    shown = views.exported_states((DOCS / "gallery.html").read_text(encoding="utf-8"))
    walk = next(state for state in shown if state["trace"]["kind"] == "walk")
    n_exercises = sum(len(folder_exercises) for folder_exercises in _exercises().values())
    start = (
        (f"{TAB}/lab/index.html", "Start the course in this tab") if tab else ("start/readme.html", "Start the course")
    )
    return {
        "start": start[0],
        "start_words": start[1],
        "play_size": f"{MODEL.stat().st_size / 1e6:.1f} MB",
        "film": views.view({"trace": trace, "step": 3}, "film", ""),
        "walk": views.view(walk, "walk", ""),
        "units": len(unit_names()),
        "exercises": n_exercises,
        "architectures": len(zoo.docstrings()),
        "words": len(glossary.terms()),
    }


def _exercises() -> dict[str, list[str]]:
    from course import all_exercises

    found: dict[str, list[str]] = {}
    for exercise in all_exercises():
        found.setdefault(exercise.unit, []).append(exercise.id)
    return found


def sphinx(source: Path, target: Path) -> None:
    """Build, and stop at the first warning. Raises SiteError with Sphinx's message."""
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-j",
        "auto",
        "-b",
        "html",
        str(source),
        str(target),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SiteError(done.stderr.replace(f"{source}/", "").strip()[-6000:])


def api(target: Path) -> None:
    """The API reference, with a link back to the site on each page. Raises SiteError with pdoc's warnings."""
    done = subprocess.run(
        [sys.executable, "tools/api_reference.py", str(target)], capture_output=True, text=True, cwd=ROOT
    )
    if done.returncode:
        raise SiteError(done.stderr.strip())
    print(done.stderr, end="", file=sys.stderr)  # which modules have no page
    for page in target.rglob("*.html"):
        up = "../" * len(page.relative_to(target).parts)
        back = f'<p><a href="{up}library/index.html">← tfkit: Build with it</a></p>'
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"(<nav class=\"pdoc\">.*?<div>)", rf"\1{back}", text, count=1, flags=re.S), "utf-8")


def check_tab(folder: Path) -> None:
    """Raises SiteError for a folder that is no site of `course.build --lite`, or whose kernel comes from elsewhere."""
    make = "python -m course.build my-course --lite FOLDER --pyodide PYODIDE writes one"
    if not (folder / "lab" / "index.html").exists():
        raise SiteError(f"{folder} is no site with the course in the browser: {make}")
    if not (folder / "static" / "pyodide" / "pyodide.mjs").exists():
        raise SiteError(f"{folder} has no Pyodide of its own, and readers would fetch it from elsewhere: {make}")


def main(arguments: list[str] | None = None) -> int:
    """Build into a temporary folder, check it, and only then replace the old site."""
    parser = make_parser("tools.website", "Build the site.")
    parser.add_argument("directory", type=Path, help="the site to write; an older one is replaced")
    parser.add_argument("--fast", action="store_true", help="one unit, no API reference, no anatomies: for the tests")
    tab = "the course in the browser, as `course.build --lite` wrote it with Pyodide; the site's first page starts it"
    parser.add_argument("--tab", type=Path, metavar="FOLDER", help=tab)
    options = parser.parse_args(arguments)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        source, built = Path(scratch) / "source", Path(scratch) / "site"
        try:
            names = unit_names()
            if options.tab:
                check_tab(options.tab)
            write_sources(
                source, names[:1] if options.fast else names, None if options.fast else KEPT, bool(options.tab)
            )
            sphinx(source, built)
            if not options.fast:
                api(built / "api")
        except (SiteError, LessonError) as error:
            parser.exit(1, f"site: {error}\n")
        for left in (".doctrees", ".buildinfo", "objects.inv"):
            path = built / left
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for mark in check.marks(built, sorted(built.rglob("*.html"))):  # worth a look; it may be a power
            print(f"site: {mark}", file=sys.stderr)
        found = check.problems(built)
        if options.fast:  # it has no API reference, which pages link to
            found = [problem for problem in found if not NO_REFERENCE.search(problem)]
        if options.tab:  # it is copied last, for its pages are JupyterLite's own
            found = [problem for problem in found if f"{TAB}/lab/index.html: there is no such file" not in problem]
        if found:
            parser.exit(1, "".join(f"site: {problem}\n" for problem in found))
        shutil.rmtree(options.directory, ignore_errors=True)
        shutil.copytree(built, options.directory)
        if options.tab:
            shutil.copytree(options.tab, options.directory / TAB)
    count = len(list(options.directory.rglob("*.html")))
    print(f"{options.directory}/index.html: {count} pages in {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
