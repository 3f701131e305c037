"""What students wrote does nothing to a terminal."""

import pytest

from autograder.feedback.text import plain, verdict_line, verdict_text

from .test_html import CASES, verdict

EVIL = "\x1b]0;root\x07\x1b[2J\x9b1m\x1b]8;;http://evil.test\x1b\\ok\r\u202edrow\x7f"


TOLD = verdict(reason=EVIL, hint=EVIL, counterexample={"call": EVIL, "inputs": {EVIL: EVIL}, "yours": EVIL}).as_json()


@pytest.mark.parametrize(
    "shown",
    [plain(EVIL), verdict_line(verdict(misconception=None, reason=EVIL)), verdict_text(TOLD | {"file": EVIL})],
)
def test_no_sequence_reaches_a_terminal(shown):
    assert not set(shown) & set("\x1b\x07\x9b\r\u202e\x7f")
    assert "\\x1b]0;root\\x07" in shown


def test_other_characters_stay():
    assert plain("✓ é 漢\n\tx") == "✓ é 漢\n\tx"


def test_an_explanation_is_indented_as_its_mistake_is():
    card = verdict_text(verdict(hint="You forgot it.\n\nIt has a reason.").as_json())
    assert "\n  You forgot it.\n  It has a reason.\n" in card


def test_the_card_of_a_terminal():
    lines = verdict_text(CASES["partial"].as_json()).splitlines()
    assert lines[1:4] == ["  Right so far: values, dtypes.", "  A row that may see nothing is not a number.",
                          "  ✓ values  1.5 of 1.5"]  # fmt: skip
    at = next(place for place, line in enumerate(lines) if "smallest example" in line)
    assert lines[at : at + 4] == [
        "  The smallest example found: softmax(scores, mask)",
        "    scores     mask             your answer    what must hold",
        "    [ 1 -2]    [False  True]    [✗nan ✗nan]    [   ?    ?]",
        "                                [0.25 0.75]    [0.25 0.75]",
    ]


def test_a_line_gives_a_reason_whole_and_ends_a_very_long_one_after_a_word():
    whole = (
        "Your notebook could not be read: it is not a Jupyter notebook (Expecting value: line 1 column 1 (char 0)); "
        * 2
    )
    assert verdict_line(verdict(misconception=None, reason=whole)).endswith(whole.strip())
    cut = verdict_line(verdict(misconception=None, reason="word " * 200))
    assert cut.endswith(" word …") and len(cut) < 400
