"""The decoding stepper: live in a notebook, recorded in the saved file, static elsewhere, or a page of its own."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from tfkit_lab.figure import figure
from tfkit_lab.trace import Trace, validate

MIME = "application/vnd.tfkit.trace.v1+json"
_SCRIPT = Path(__file__).parent / "static" / "stepper.js"
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'">
<style>@media (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark;
--jp-ui-font-color1: #eee; --jp-ui-font-color2: #bbb;
--jp-layout-color0: #161616; --jp-layout-color2: #333; --jp-border-color1: #777; --jp-brand-color1: #64b5f6 }}
body {{ background: #161616 }} }}</style></head>
<body><main id="stepper"></main>
<script type="application/json" id="state">{state}</script>
<script type="module">
const state = JSON.parse(document.getElementById("state").textContent);
const {{ mount, RecordedModel }} = await import("data:text/javascript;base64,{script}");
mount(new RecordedModel(state), document.getElementById("stepper"));
</script></body></html>
"""


class Stepper(anywidget.AnyWidget):
    """Step through a recorded decoding run, as `tfkit.decode.trace_json` gives it; ValueError for what is no trace.

    The saved notebook keeps the trace and the step, so it can be stepped through again with no kernel.
    """

    _esm = _SCRIPT
    trace = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    layer = traitlets.Int(0, min=0).tag(sync=True)
    head = traitlets.Int(0, min=0).tag(sync=True)

    def __init__(self, trace: Trace, step: int = 0, layer: int = 0, head: int = 0) -> None:
        validate(trace)
        super().__init__(trace=dict(trace), step=step, layer=layer, head=head)

    @traitlets.validate("step")
    def _within(self, proposal: Any) -> int:
        return min(proposal["value"], max(0, len(self.trace.get("steps", ())) - 1))

    def state(self) -> dict[str, Any]:
        """What the views need: the trace and what of it is shown."""
        return {"trace": self.trace, "step": self.step, "layer": self.layer, "head": self.head}

    def to_html(self) -> str:
        """A page that needs no kernel, no server and no network."""
        return to_html(self.trace, self.step, self.layer, self.head)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        # No widget-view entry: exporters prefer it to the figure and then show nothing, and a reopened notebook says
        # "model not found". Our renderer finds the live widget by `model_id`.
        bundle: dict[str, Any] = {MIME: {**self.state(), "model_id": self.model_id}}
        bundle["text/html"] = figure(self.trace, self.step, self.layer, self.head)
        bundle["text/plain"] = f"Stepper({self.trace['title']!r}, step {self.step + 1} of {len(self.trace['steps'])})"
        return bundle, {}


def to_html(trace: Trace, step: int = 0, layer: int = 0, head: int = 0) -> str:
    """The stepper as one HTML page, with the trace and the script inside; ValueError for what is no trace."""
    validate(trace)
    state = json.dumps({"trace": trace, "step": step, "layer": layer, "head": head})
    return _PAGE.format(
        title=html.escape(trace["title"] or "Decoding"),
        state=state.replace("<", "\\u003c"),  # a token may read </script>
        script=base64.b64encode(_SCRIPT.read_bytes()).decode(),
    )
