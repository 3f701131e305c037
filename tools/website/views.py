"""The lab's views on a page of the site: their states in the page, their scripts in files that also load from disk."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tfkit_lab.page import STATIC, translations
from tfkit_lab.views import view_of
from tools.website import SiteError

STATES = re.compile(r'<script type="application/json" id="state">(.*?)</script>', re.S)
MAIN = re.compile(r"<body><main>(.*?)</main>", re.S)


def view(state: Mapping[str, Any], name: str, root: str, language: str = "en") -> str:
    """The HTML of one view; name: unique on its page; root: the relative path from the page to the site's root, such as
    "../"; language: of its own words."""
    kind = state["trace"]["kind"]
    packed = json.dumps(state, ensure_ascii=False).replace("<", "\\u003c")  # a token may read </script>
    title = html.escape(str(state["trace"].get("title") or kind))
    without = f"<noscript>{title}: this picture needs JavaScript.</noscript>"
    words = () if language == "en" else (f"views/words-{language}.js",)
    needed = (*words, f"views/{kind}.js", "views/model.js", "views.js")
    scripts = "".join(f'<script defer src="{root}_static/{file}"></script>' for file in needed)
    return (
        f'<div class="site-view" id="view-{name}" data-kind="{kind}" role="group" aria-label="{title}">'
        f'<script type="application/json">{packed}</script>{without}</div>\n{scripts}'
    )


def pointing(root: str) -> str:
    """The script that lets phrases of a page point at its views and its code, once for a page."""
    return f'<script defer src="{root}_static/views/points.js"></script>'


def write_scripts(folder: Path, kinds: set[str], languages: Iterable[str] = ()) -> None:
    """A classic script for each kind, which holds the view's module: a browser imports no module from a file on disk;
    and for each language beside English one with the words of views.

    Raises SiteError if the front end was not built.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {"model": STATIC / "model.js", "points": STATIC / "points.js"}
    for kind, file in {**files, **{kind: view_of(kind).script for kind in kinds}}.items():
        if not file.exists():
            raise SiteError(f"the script of {kind} is not built: run `make setup`")
        packed = base64.b64encode(file.read_bytes()).decode()
        (folder / f"{kind}.js").write_text(f'(globalThis.siteViews ??= {{}})["{kind}"] = "{packed}";\n')
    for language in languages:
        translated = translations(language, [files["points"], *(view_of(kind).script for kind in kinds)])
        (folder / f"words-{language}.js").write_text(f"globalThis.siteWords = {json.dumps(translated)};\n")


def exported_states(page: str) -> list[dict[str, Any]]:
    """The states of the views of an exported page (tfkit_lab.export). Raises SiteError for another page."""
    if states := STATES.search(page):
        return list(json.loads(states[1]))
    raise SiteError(
        "docs/gallery.html is not an exported page: python -m tfkit_lab.export docs/gallery.py docs/gallery.html"
    )


def gallery(page: str, root: str) -> str:
    """The body of an exported page, with the views in the site's form. Raises SiteError for another page."""
    states, body = exported_states(page), MAIN.search(page)
    text = re.sub(r'<a class="anchor-link".*?</a>', "", body[1] if body else "")
    for index, state in enumerate(states):
        text = text.replace(f'<div id="view-{index}"></div>', view(state, str(index), root))
    return re.sub(r'<div id="view-\d+"></div>', "", text)  # an exported page ends with an empty placeholder
