"""What students wrote does nothing to a terminal."""

import pytest

from autograder.cli import as_text
from autograder.report import verdict_line
from autograder.report.text import plain

from .test_html import verdict

EVIL = "\x1b]0;root\x07\x1b[2J\x9b1m\x1b]8;;http://evil.test\x1b\\ok\r\u202edrow\x7f"


@pytest.mark.parametrize("shown", [plain(EVIL), verdict_line(verdict(misconception=None, reason=EVIL)),
                                   as_text(verdict(reason=EVIL, hint=EVIL).as_json() | {"file": EVIL})])  # fmt: skip
def test_no_sequence_reaches_a_terminal(shown):
    assert not set(shown) & set("\x1b\x07\x9b\r\u202e\x7f")
    assert "\\x1b]0;root\\x07" in shown


def test_other_characters_stay():
    assert plain("✓ é 漢\n\tx") == "✓ é 漢\n\tx"
