"""The cards of an opening in a notebook: a plain ipywidget for any front end that supports those.

The keys stay in the kernel until a question is answered.
"""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from tfkit_lab.page import STATIC
from tfkit_lab.recall import page
from tfkit_lab.recall.cards import Card
from tfkit_lab.recall.opening import Opening


class RecallForm(anywidget.AnyWidget):
    """Asks one card after the other, and is replaced by what came of them in the end.

    `cards`: what is shown of each; `results`: what came of it, or None.
    """

    _esm = STATIC / "recall.js"
    _css = traitlets.Unicode().tag(sync=True)
    cards: Any = traitlets.List().tag(sync=True)
    results: Any = traitlets.List().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)
    problem = traitlets.Unicode().tag(sync=True)
    ended = traitlets.Bool(False).tag(sync=True)
    display_handle: Any = None  # of the output that shows it

    def __init__(self, opening: Opening) -> None:
        super().__init__(cards=[for_browser(card) for card in opening.cards], _css=page.style())
        self.opening = opening
        self._tell()
        self.on_msg(self._asked)

    def view(self) -> dict[str, Any]:
        """The widget as a part of an output, beside what front ends without widgets show."""
        found, *_ = self._repr_mimebundle_() or ({},)
        return {mime: value for mime, value in found.items() if not mime.startswith("text/")}

    def _asked(self, _widget: Any, content: Any, _buffers: Any) -> None:
        try:
            self.do(content)
        except (ValueError, TypeError, IndexError, KeyError) as error:
            self.problem = str(error)

    def do(self, content: dict[str, Any]) -> None:
        """Handle a message of the browser: {"do": "answer", "card": 0, "answer": …}, {"do": "easy", "card": 0},
        {"do": "skip"} or {"do": "end"}. Raises ValueError for an answer that does not fit."""
        self.problem, what = "", content.get("do")
        if what == "answer":
            self.opening.answer(int(content["card"]), content.get("answer"))
        elif what == "easy":
            self.opening.rate_easy(int(content["card"]))
        elif what in ("skip", "end"):
            self.ended = True
            if self.display_handle is not None:  # so that a saved notebook shows it without a kernel
                self.display_handle.update(page.bundle(self.opening, ended=True, skipped=what == "skip"), raw=True)
        self._tell()

    def _tell(self) -> None:
        self.note = self.opening.note
        self.results = [self.opening.results.get(place) for place in range(len(self.opening.cards))]


def for_browser(card: Card) -> dict[str, Any]:
    """What the browser gets of a card: all but the key and what would tell it."""
    return {"question": card.question, "title": card.title, "code": card.code, "before": card.before,
            "after": card.after, "lesson": card.lesson}  # fmt: skip
