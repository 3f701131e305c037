"""AGENTS.md beside each notebook: what a coding assistant that is opened there is asked to be, and not to do.

Assistants that follow the convention (https://agents.md) read the file of the folder that they work in. It asks for a
tutor who writes no answer and keeps a log. It can ask, and enforce nothing: docs/assistants.md says what can. For
programs that run hooks, as Claude Code does, there are settings beside it: they show the program these rules when it
starts, and refuse its changes to notebooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.nbgrader.config import AGENTS, ASSISTANTS_HOOKS, ASSISTANTS_LOG
from course.files import write_if_new

FOLDER = Path(__file__).parent / "templates" / "agents"
TEXTS = {path.stem: path for path in FOLDER.glob("*.md")}  # by language
HOOKS = FOLDER / "hooks.json"


def write_agents(folder: Path, unit: str, exercises: Sequence[str], language: str | None) -> bool:
    """Write the file and the hooks into a unit's source folder, from which nbgrader releases them; whether the file was
    new."""
    named = ", ".join(f"`{name}`" for name in exercises) or "–"
    text = TEXTS.get(language or "en", TEXTS["en"]).read_text(encoding="utf-8")
    write_if_new(folder / ASSISTANTS_HOOKS, HOOKS.read_text(encoding="utf-8"))
    return write_if_new(folder / AGENTS, text.format(unit=unit, exercises=named, log=ASSISTANTS_LOG))
