"""Documents of the repository as pages of the site: their paths, and the links between them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from course import guide, units
from course.settings import read, unit_names
from tools.website import DOCS, ROOT
from tools.website.book import raw

# fenced code, links, inline code: the first match wins, so that none is searched inside another
LINK = re.compile(
    r"(?P<code>^(?:```|~~~).*?^(?:```|~~~)\s*$)"
    r"|(?P<picture>!?)\[(?P<words>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)"
    r"|`[^`\n]+`",
    re.S | re.M,
)
HANDBOOK = (
    "first-day", "teaching", "syllabus", "settings", "units", "jupyterhub", "cluster", "kubernetes", "image", "lti",
    "lite", "platforms", "upgrades", "privacy", "accessibility", "course-timings", "assistants", "scale",
)  # fmt: skip
LIBRARY = (
    "library", "architecture", "reproductions", "benchmarks", "benchmarks-gpu", "benchmarks-grading",
    "benchmarks-checks", "benchmarks-widgets", "diagnosis", "releasing",
)  # fmt: skip


def places() -> dict[str, str]:
    """Document of the repository -> page of the site, both without a suffix where they are Markdown's."""
    found = {f"docs/{name}.md": f"handbook/{name}" for name in HANDBOOK}
    found |= {f"docs/{file.stem}.md": f"library/{file.stem}" for file in DOCS.glob("*.md")}
    found |= {f"docs/{name}.md": f"handbook/{name}" for name in HANDBOOK}
    found |= {f"docs/decisions/{file.name}": f"decisions/{file.stem}" for file in DOCS.glob("decisions/*.md")}
    found |= {"docs/glossary.md": "course/glossary", "docs/gallery.html": "gallery"}
    found |= {
        "README.md": "start/readme",
        "CONTRIBUTING.md": "library/contributing",
        "CHANGELOG.md": "library/changelog",
    }
    return {source: page for source, page in found.items() if (ROOT / source).exists()}


def rewrite_links(text: str, source: str, page: str, pictures: Path) -> str:
    """A document's text with its links changed to those of the site: to other pages, to pictures, which are copied;
    of a link to what is no page the words remain,
    and stderr names one to what is not there. source, page: its place in the repository and in the site."""
    known = places()
    up = "../" * page.count("/")

    def change(found: re.Match[str]) -> str:
        picture, words, target = found["picture"], found["words"], found["target"]
        if target is None:
            return found[0]
        path, _, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return found[0]
        there = os.path.normpath(PurePosixPath(source).parent / path)
        if there in known:
            return f"[{words}]({up}{known[there]}.md{'#' + anchor if anchor else ''})"
        file = ROOT / there
        if picture and file.exists():
            pictures.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, pictures / file.name)
            return f"![{words}]({up}_pictures/{file.name})"
        if not file.exists():
            print(f"{source} links to {target}, which is not there", file=sys.stderr)
        return words

    return LINK.sub(change, text)


def teaching(folder: Path) -> str:
    """The instructor's guide of a unit (course.guide) without its mark schemes: this page anybody can read."""
    settings = {unit.name: unit for unit in read()}
    text = guide.guide(folder, settings[folder.name])
    cut = re.sub(r"(?s)\n\nHow to mark it:\n\n.*?(?=\n\n(?:\*\*|#)|\Z)", "", text)
    about = "The mark schemes are left out here; `python -m course.guide my-course` writes them for those who teach."
    return f"{cut.strip()}\n\n{about}\n"


def handbook() -> dict[str, str]:
    """Page -> text of the part for instructors."""
    guides = {f"handbook/{folder.name}": teaching(folder) for folder in units() if folder.name in unit_names()}
    toc = toctree(HANDBOOK) + "\n\n" + toctree(sorted(name.partition("/")[2] for name in guides), "Unit by unit")
    start = "[Teaching with tfkit](teaching.md) is the handbook; the other pages have the details."
    return {"handbook/index": f"# Teach with it\n\n{start}\n\n{toc}\n", **guides}


def library() -> dict[str, str]:
    """Page -> text of the part for developers."""
    names = [page.partition("/")[2] for page in places().values() if page.startswith("library/")]
    order = [name for name in LIBRARY if name in names] + sorted(set(names) - set(LIBRARY))
    api = raw('<p><a href="../api/index.html"><strong>API reference</strong></a>: every public name, with shapes.</p>')
    text = f"# Build with it\n\n{api}\n\n{toctree(order, hidden=False)}\n"
    decided = sorted(page.partition("/")[2] for page in places().values() if page.startswith("decisions/"))
    why = f"# Decisions\n\nWhat was chosen, why, and what did not work.\n\n{toctree(decided, hidden=False)}\n"
    return {"library/index": text, "decisions/index": why}


def documents(pictures: Path) -> dict[str, str]:
    """Page -> text of every document of the repository that becomes a page."""
    found = {}
    for source, page in places().items():
        if source.endswith(".md"):
            text = (ROOT / source).read_text(encoding="utf-8")
            found[page] = rewrite_links(text, source, page, pictures)
    return found


def toctree(names: Iterable[str], caption: str = "", hidden: bool = False) -> str:
    """Sphinx's table of contents."""
    options = [f":caption: {caption}"] * bool(caption) + [":hidden:"] * hidden + [":maxdepth: 1"]
    return "```{toctree}\n" + "\n".join(options) + "\n\n" + "\n".join(names) + "\n```"
