"""One page with the predictions of every unit, as reading mode and the widget draw them, to try the keyboard on."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext

from autograder.feedback.page import document
from course import units
from tfkit_lab import prediction_card
from tfkit_lab.lesson import questions_in
from tfkit_lab.page import STATIC

SCRIPT = """
const load = packed => import('data:text/javascript;base64,' + packed);
const {{ RecordedModel }} = await load('{model}');
const {{ default: view }} = await load('{prediction}');
window.sent = {{}};
for (const {{ id, form }} of {forms}) {{
  const model = new RecordedModel({{ form, sealed: null, problem: '' }});
  model.send = message => {{
    window.sent[form.name] = message;
    model.set('sealed', message);
  }};
  const el = document.getElementById(id);
  el.dataset.form = JSON.stringify(form);
  view.render({{ model, el }});
}}
document.body.dataset.drawn = 'true';
"""


def predictions(folder: Path) -> Iterator[dict[str, Any]]:
    """The name and questions of each prediction of a unit's lesson."""
    for cell in jupytext.read(folder / "lesson.py", fmt="py:percent").cells:
        if cell.metadata.get("role") == "predict":
            name, questions = questions_in(cell.source)  # type: ignore[misc]  # the linter holds lessons to it
            yield {"name": name, "questions": questions}


def lessons_page() -> str:
    """A section for each unit, with an element for each of its predictions, and a script that draws them."""
    forms, sections = [], []
    for folder in units():
        found = list(predictions(folder))
        places = [f"{folder.name}-{n}" for n in range(len(found))]
        forms += [{"id": place, "form": form} for place, form in zip(places, found, strict=True)]
        boxes = "".join(f'<div class="asked" id="{place}"></div>' for place in places)
        sections.append(f'<section aria-label="{folder.name}"><h2>{html.escape(folder.name)}</h2>{boxes}</section>')
    packed = {name: base64.b64encode((STATIC / f"{name}.js").read_bytes()).decode() for name in ("model", "prediction")}
    script = SCRIPT.format(**packed, forms=json.dumps(forms).replace("<", "\\u003c"))
    body = "".join(sections) + f'<script type="module">{script}</script>'
    return document("The predictions of every unit", body, prediction_card.style())
