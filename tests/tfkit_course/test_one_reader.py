"""What students can write is read and parsed in one place: `small_file` and `parse_source` (SECURITY.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
READERS = ("read_text", "read_bytes")  # of any path
PARSERS = {("json", "loads"), ("json", "load"), ("ast", "parse"), ("nbformat", "read"), ("nbformat", "reads"),
           ("pickle", "loads"), ("torch", "load"), ("np", "load"), ("v4", "reads")}  # fmt: skip

# Modules by their file's name, with what they read: none of it can be written by a student.
OWN = {
    "the course's files and the package's own": """
        adopt.py answers.py authenticator.py caught.py child.py command.py compose.py config.py corpus.py
        course.py course_file.py diagnose.py diagnosis.py edits.py engine.py exec.py feedback.py find.py
        html.py injected_modules.py instrument.py judge.py lines.py lti.py measure.py misconceptions.py
        mutants.py mutation.py notebook.py operators.py page.py platforms.py programs.py purity.py
        recipes.py release.py results_file.py rubric.py stability.py statement.py status.py
        stored_mutants.py teams.py tokens.py trace.py unexplained.py prediction_card.py family.py secrecy.py
        bundle.py""",
    "sources of this package, and wrong answers of a course": "__init__.py distance.py",
    "the notebook that is open in its reader's own lab": "lesson.py unsealed.py",
    "the system's files": "bubblewrap.py cgroup.py container.py nvidia.py processor.py probing.py",
    "what our own processes wrote, or a framed line of theirs": """
        assistant.py client.py check.py cli.py fork_child.py fork_server.py grading_process.py local.py
        log.py own_tests.py grade.py portable.py results.py single.py store.py unfinished.py warm.py wire.py
        zygote.py execute.py""",
    "the body of a request, whose length the server bounds": "handlers.py marking.py regrade.py",
    "a notebook that `parse_json` has read": "export.py submission.py gradebook.py",
    "the readers themselves": "parse.py operations.py",
}


def calls(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = getattr(node.func.value, "id", getattr(node.func.value, "attr", ""))
            if node.func.attr in READERS or (owner, node.func.attr) in PARSERS:
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {owner}.{node.func.attr}"


def found() -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = {}
    for folder in ("autograder", "extension/tfkit_lab"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "benchmark" not in path.parts and "node_modules" not in path.parts:
                by_name.setdefault(path.name, []).extend(calls(path))
    return {name: where for name, where in by_name.items() if where}


def test_students_files_are_read_in_one_place():
    known = set(" ".join(OWN.values()).split())
    new = [line for name, lines in found().items() if name not in known for line in lines]
    assert not new, "\n".join(
        ["use tfkit_course.small_file or parse_source, or say in OWN whose files these are:", *new]
    )


def test_a_new_reader_would_be_named(tmp_path, monkeypatch):
    (tmp_path / "autograder").mkdir()
    (tmp_path / "autograder" / "fresh.py").write_text("import json\njson.loads(path.read_text())\n", encoding="utf-8")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert found() == {"fresh.py": ["autograder/fresh.py:2: json.loads", "autograder/fresh.py:2: path.read_text"]}
