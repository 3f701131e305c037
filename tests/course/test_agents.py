"""The file for coding assistants: in each release, in the notebook's language, with all its exercises and no code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.nbgrader.config import AGENTS
from course import agents
from course.build import build


@pytest.mark.parametrize(("language", "heading"), [(None, "# For coding assistants: 02-masks"),
                                                  ("fr", "# Pour les assistants de code : 02-masks")])  # fmt: skip
def test_a_build_writes_it_beside_the_notebook(tmp_path: Path, language: str | None, heading: str) -> None:
    (built,) = build(tmp_path, ["02-masks"], language)
    text = (built.path.parent / AGENTS).read_text(encoding="utf-8")
    assert text.startswith(heading) and "`masks.causal`" in text and "`masks.softmax`" in text
    assert "`assistant-log.md`" in text and "`autograder mcp`" in text and "```" not in text
    assert not re.search(r"\{\w+\}", text)


def test_the_languages_say_the_same() -> None:
    def shape(text: str) -> list[str]:
        return [line[:2] for line in text.splitlines() if line[:1] in ("#", "-")]

    texts = [path.read_text(encoding="utf-8") for path in agents.TEXTS.values()]
    assert len(texts) == 2 and len({tuple(shape(text)) for text in texts}) == 1
    assert {name for text in texts for name in re.findall(r"\{\w+\}", text)} == {
        "{unit}", "{exercises}", "{log}"
    }  # fmt: skip


def test_a_language_without_a_text_gets_the_english_one(tmp_path: Path) -> None:
    assert agents.write_agents(tmp_path, "x", [], "es") and not agents.write_agents(tmp_path, "x", [], "en")
