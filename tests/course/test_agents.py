"""The file for coding assistants: in each release, in the notebook's language, with all its exercises and no code."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from autograder.nbgrader.config import AGENTS, ASSISTANTS_HOOKS
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


def hook(folder: Path, event: str, tool: str = "", **given: str) -> subprocess.CompletedProcess[str]:
    """What the hook of a built unit does where an assistant is about to use a tool, as Claude Code calls it."""
    (entry,) = json.loads((folder / ASSISTANTS_HOOKS).read_text(encoding="utf-8"))["hooks"][event]
    assert not tool or re.fullmatch(entry["matcher"], tool)
    (command,) = entry["hooks"]
    payload = json.dumps({"hook_event_name": event, "tool_name": tool, "tool_input": given})
    env = {**os.environ, "CLAUDE_PROJECT_DIR": str(folder)}
    return subprocess.run(["sh", "-c", command["command"]], input=payload, env=env, capture_output=True, text=True)


def test_hooks_show_the_rules_and_refuse_changes_to_a_notebook(tmp_path: Path) -> None:
    (built,) = build(tmp_path, ["02-masks"])
    folder = built.path.parent
    assert hook(folder, "SessionStart").stdout == (folder / AGENTS).read_text(encoding="utf-8")
    for tool, key, path in (
        ("NotebookEdit", "notebook_path", "/a/02-masks.ipynb"),
        ("Edit", "file_path", "02-masks.ipynb"),
        ("Write", "file_path", "/a b/02-masks.ipynb"),
    ):
        refused = hook(folder, "PreToolUse", tool, **{key: path}, content="x")
        assert refused.returncode == 2 and "AGENTS.md in this folder" in refused.stderr, tool
    said = '{"file_path": "02-masks.ipynb"} was refused'
    allowed = hook(folder, "PreToolUse", "Write", file_path="/a/assistant-log.md", content=said)
    assert (allowed.returncode, allowed.stderr) == (0, "")


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
