"""Lines to put in order, in a notebook: a plain ipywidget for any front end that supports those."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets

from tfkit_lab.card_style import card_style
from tfkit_lab.page import STATIC

Judge = Callable[[str], Mapping[str, Any]]  # the verdict on an order such as `3 1 2:1`


class Ordering(anywidget.AnyWidget):
    """Shows the lines of `task`, and has `judge` say what it finds of the order that is made of them.

    `answer`: the order as pairs of a line's number and its indentation. A verdict is waited for in a thread, so that
    the kernel is free.
    """

    _esm = STATIC / "ordering.js"
    _css = traitlets.Unicode().tag(sync=True)
    task: Any = traitlets.Dict().tag(sync=True)
    answer: Any = traitlets.List().tag(sync=True)
    result: Any = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    problem = traitlets.Unicode().tag(sync=True)
    busy = traitlets.Bool(False).tag(sync=True)

    def __init__(self, task: Mapping[str, Any], judge: Judge) -> None:
        super().__init__(task=dict(task), _css=card_style("ordering.css"))
        self.judge = judge
        self.on_msg(self._asked)

    def _asked(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if not self.busy:
            self.busy = True
            threading.Thread(target=self._answer_now, args=(content,), name="order", daemon=True).start()

    def _answer_now(self, content: Any) -> None:
        try:
            self.answer_request(content)
        except Exception as error:  # nobody waits for this thread, so the error is shown in place of the verdict
            self.problem = str(error) or type(error).__name__
        finally:
            self.busy = False

    def answer_request(self, content: Mapping[str, Any]) -> None:
        """Handle a message of the browser, {"do": "check", "order": [[3, 0], [1, 1]]}. Raises ValueError for any other,
        and what the judge raises."""
        self.problem, self.result = "", None
        pairs = content.get("order")
        if content.get("do") != "check" or not isinstance(pairs, list):
            raise ValueError(f"unknown request {content.get('do')!r}")
        found = self.judge(" ".join(f"{int(number)}:{int(level)}" for number, level in pairs))
        self.result = {name: found[name] for name in ("status", "sentences", "line")}
