"""Standalone pages: views with embedded scripts, which need no kernel, no server and no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.feedback.tokens import DARK_FRAME

State = Mapping[str, Any]  # the state of a view: its trace, and the position in it
STATIC = Path(__file__).parent / "static"
LOCALE = Path(__file__).parent / "locale"
POINTS = 'href="#show:'  # of a phrase that points: see extension/src/widgets/pointing.ts

_PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; script-src {allowed} data:; style-src 'unsafe-inline'; img-src data:">
<style>body {{ font: 15px/1.55 system-ui, sans-serif; margin: 1em auto; max-width: 1200px; padding: 0 1em;
color: var(--tfk-ink, #1b1b1b); background: var(--tfk-page, #fff) }}
body > main > * {{ margin-bottom: 1em }}
a {{ color: var(--tfk-accent, LinkText) }}
pre {{ overflow: auto; font-size: 13px; border-left: 3px solid var(--tfk-line-strong, #999); padding-left: 10px }}
summary {{ cursor: pointer; color: var(--tfk-ink-soft, #565656); font-size: 13px }}
.anchor-link {{ display: none }}
.tfk {{ border: 1px solid var(--tfk-line); border-radius: 14px; padding: 16px !important; box-sizing: border-box }}
@media (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; background: #0e1318;
{dark} }} }}
@media (prefers-color-scheme: dark) and (prefers-contrast: more) {{ :root {{ background: #000;
--jp-layout-color0: #000; --jp-layout-color1: #000; --jp-layout-color2: #000 }} }}</style></head>
<body><main>{body}</main>
<script type="application/json" id="state">{states}</script>
<script type="module">{script}</script></body></html>
"""
_SCRIPT = """
const states = JSON.parse(document.getElementById("state").textContent);
const scripts = {scripts};
const load = kind => import("data:text/javascript;base64," + scripts[kind]);
const asked = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"].map(query => matchMedia(query));
const theme = () => {{
  document.body.dataset.jpThemeLight = !asked[0].matches;
  document.body.dataset.jpThemeName = asked[1].matches ? "High Contrast" : "";
}};
theme();
asked.forEach(one => one.addEventListener("change", theme));
const words = {words};
globalThis[Symbol.for("@tfkit/lab:translate")] = (english, ...values) =>
  (words[english] ?? english).replace(/%(\\d)/g, (_, place) => values[place - 1]);
const {{ RecordedModel, shownPlace, linkTo }} = await load("");
globalThis[Symbol.for("@tfkit/lab:share")] = {{ link: linkTo, load: () => load("/sharing") }};
for (const [place, state] of states.entries()) {{
  const {{ default: view }} = await load(state.trace.kind);
  const el = document.getElementById("view-" + place);
  view.render({{ model: new RecordedModel({{ ...state, ...shownPlace(el.id) }}), el }});
}}
if (scripts["/points"]) (await load("/points")).start(document.querySelector("main"));
const nest = () => {{  // headings of views follow the page's own, or begin where it has none
  let level = 0;
  for (const node of document.querySelectorAll("main :is(h1, h2, h3, h4, h5, h6)")) {{
    if (node.closest(".tfk")) node.ariaLevel = level + Number(node.localName[1]) - 2;
    else level = Number(node.localName[1]);
  }}
}};
new MutationObserver(nest).observe(document.querySelector("main"), {{ childList: true, subtree: true }});
nest();
if (location.hash) document.getElementById(location.hash.slice(1).split("=")[0])?.scrollIntoView();
"""


def page(
    title: str, states: Sequence[State], scripts: Mapping[str, Path], words: Sequence[str] = (), language: str = "en"
) -> str:
    """One file with a view for each state, under one another; scripts: kind -> file, a module whose default has
    `render({model, el})`, as anywidget wants it; words: HTML before each view; language: of the views' own words, such
    as "fr" (English without a catalogue for it)."""
    before = [*words, *[""] * (len(states) - len(words))]
    parts = [f'{text}<div id="view-{index}"></div>' for index, text in enumerate(before)]
    pointing = {"/points": STATIC / "points.js"} if any(POINTS in text for text in words) else {}
    files = {"": STATIC / "model.js", "/sharing": STATIC / "sharing.js", **pointing, **scripts}
    translated = translations(language, files.values())
    packed = {kind: base64.b64encode(file.read_bytes()).decode() for kind, file in files.items()}
    shown = json.dumps(translated, ensure_ascii=False).replace("<", "\\u003c")
    script = _SCRIPT.format(words=shown, scripts=json.dumps(packed))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _PAGE.format(
        allowed=f"'sha256-{digest}'",  # no other script written into the page runs
        script=script,
        dark=DARK_FRAME,
        language=re.split("[-_]", language)[0] if translated else "en",
        title=html.escape(title),
        body="\n".join(parts),
        states=json.dumps(list(states)).replace("<", "\\u003c"),  # a token may contain </script>
    )


def translations(language: str, scripts: Iterable[Path]) -> dict[str, str]:
    """English -> the text in a language, of every text that one of the scripts has; empty without a catalogue.
    language: "fr", "fr-FR" or "fr_FR"."""
    wanted = language.replace("-", "_").lower()
    names = [folder.name for folder in sorted(LOCALE.iterdir())]
    folder = next((name for name in names if wanted in (name.lower(), name.lower().split("_")[0])), None)
    if folder is None:
        return {}
    catalogue = json.loads((LOCALE / folder / "LC_MESSAGES" / "tfkit_lab.json").read_text(encoding="utf-8"))
    code = "".join(file.read_text(encoding="utf-8") for file in scripts)
    return {english: forms[0] for english, forms in catalogue.items() if english and f'"{english}"' in code}
