"""What is said of a puzzle and of an order: in French too, and escaped."""

import polib

from autograder.feedback.translate import OWN_FOLDER
from autograder.ordering import card, judge, out_of_place, words

CODE = ("CALL",)
SHOWN = {"exercise": "a.b", "title": "<b>", "seed": 3, "intro": "Intro.", "before": "def f(x):", "after": "y = 1",
         "level": 1, "lines": ["if x < 1:", "return (1,\n        2)"]}  # fmt: skip
VERDICT = {"exercise": "a.b", "status": "failed", "sentences": ["Line `x` <is>.", "More."], "line": 2, "mistakes": [],
           "checks": [["right values", "failed"]], "sandbox": "subprocess"}  # fmt: skip


def test_every_sentence_is_translated() -> None:
    french = {entry.msgid for entry in polib.pofile(str(OWN_FOLDER / "locale/fr.po")) if entry.msgstr}
    said = {f"{module.__name__}.{name}": value for module in (card, judge, out_of_place, words)
            for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}  # fmt: skip
    assert len(said) > 16
    assert {name: text for name, text in said.items() if text not in french} == {}


def test_a_puzzle_is_shown_with_what_is_given() -> None:
    text = words.task_text(SHOWN, "the call")
    assert "  1  if x < 1:\n  2  return (1,\n             2)\n" in text
    assert "    def f(x):\n        # your lines\n    y = 1\n" in text and text.endswith("the call")
    page = card.task_html(SHOWN, "order('<')")
    assert (
        "if x &lt; 1:" in page and "&lt;b&gt;" in page and "# your lines" in page and "order(&#x27;&lt;&#x27;)" in page
    )


def test_a_verdict_is_shown_with_its_checks_and_a_missing_sandbox() -> None:
    text = words.verdict_text(VERDICT)
    assert "✗ a.b, Lines in order: not yet right" in text and "  ✗ right values" in text and "NOT ISOLATED" in text
    page = card.verdict_html(VERDICT)
    assert "<code>x</code> &lt;is&gt;." in page and "tfkit-is-failed" in page and "NOT ISOLATED" in page
