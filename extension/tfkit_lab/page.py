"""Pages of their own: views with their scripts inside, which need no kernel, no server and no network."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

State = Mapping[str, Any]  # what a view shows: its trace, and the place in it
STATIC = Path(__file__).parent / "static"

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:">
<style>body {{ font: 15px/1.5 system-ui, sans-serif; margin: 1em auto; max-width: 1200px; padding: 0 1em;
color: #1b1b1b; background: #fff }}
pre {{ overflow: auto; font-size: 13px; border-left: 3px solid #999; padding-left: 10px }}
.anchor-link {{ display: none }}
@media (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark;
--jp-ui-font-color1: #eee; --jp-ui-font-color2: #bbb;
--jp-layout-color0: #161616; --jp-layout-color2: #333; --jp-border-color1: #777; --jp-brand-color1: #64b5f6 }}
body {{ color: #eee; background: #161616 }}
.tfk canvas, .tfk .tfk-swatch {{ filter: invert(1) hue-rotate(180deg) }} }}</style></head>
<body><main>{body}</main>
<script type="application/json" id="state">{states}</script>
<script type="module">
const states = JSON.parse(document.getElementById("state").textContent);
const scripts = {scripts};
const load = kind => import("data:text/javascript;base64," + scripts[kind]);
const {{ RecordedModel }} = await load("");
for (const [place, state] of states.entries()) {{
  const {{ default: view }} = await load(state.trace.kind);
  view.render({{ model: new RecordedModel(state), el: document.getElementById("view-" + place) }});
}}
</script></body></html>
"""


def page(title: str, states: Sequence[State], scripts: Mapping[str, Path], words: Sequence[str] = ()) -> str:
    """One file with a view for each state, under one another; scripts: kind -> file, a module whose default has
    `render({model, el})`, as anywidget wants it; words: HTML before each view."""
    before = [*words, *[""] * (len(states) - len(words))]
    parts = [f'{text}<div id="view-{place}"></div>' for place, text in enumerate(before)]
    files = {"": STATIC / "model.js", **scripts}
    packed = {kind: base64.b64encode(file.read_bytes()).decode() for kind, file in files.items()}
    return _PAGE.format(
        title=html.escape(title),
        body="\n".join(parts),
        states=json.dumps(list(states)).replace("<", "\\u003c"),  # a token may read </script>
        scripts=json.dumps(packed),
    )
