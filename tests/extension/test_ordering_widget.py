"""The widget of lines to put in order: it has the order judged, and shows why there is no verdict."""

import threading

import pytest

from tfkit_lab.ordering_widget import Ordering
from tfkit_lab.page import STATIC

TASK = {"exercise": "a.b", "title": "A title", "intro": "", "before": "", "after": "", "level": 0, "lines": ["x", "y"]}
FOUND = {"status": "failed", "sentences": ["No."], "line": 1, "mistakes": [], "checks": [], "sandbox": "x"}


@pytest.fixture
def asked():
    """The orders that a widget had judged, and the widget."""
    orders: list[str] = []
    return orders, Ordering(TASK, lambda order: orders.append(order) or FOUND)


def test_an_order_is_judged_and_its_verdict_shown(asked):
    orders, widget = asked
    widget.answer_request({"do": "check", "order": [[2, 0], [1, 1]]})
    assert orders == ["2:0 1:1"] and widget.result == {"status": "failed", "sentences": ["No."], "line": 1}


@pytest.mark.parametrize(
    "content", [{}, {"do": "run"}, {"do": "check"}, {"do": "check", "order": "1"}, {"do": "check", "order": [["a", 1]]}]
)
def test_any_other_message_is_refused(asked, content):
    orders, widget = asked
    with pytest.raises(ValueError):
        widget.answer_request(content)
    assert orders == []


def test_the_kernel_is_free_meanwhile_and_a_failure_is_shown():
    waits = threading.Event()

    def judge(_: str):
        waits.wait(30)
        raise RuntimeError("no answer after 300 s")

    widget, free = Ordering(TASK, judge), threading.Event()
    widget.observe(lambda change: free.set() if not change["new"] else None, "busy")
    widget._asked(widget, {"do": "check", "order": [[1, 0]]}, [])
    assert widget.busy
    widget._asked(widget, {"do": "check", "order": [[2, 0]]}, [])  # one at a time
    waits.set()
    assert free.wait(30) and widget.problem == "no answer after 300 s"


def test_the_script_is_small_and_asks_for_nothing():
    script = (STATIC / "ordering.js").read_text(encoding="utf-8")
    assert len(script.encode()) < 60_000 and "http" not in script and "fetch(" not in script
