"""What students can write is read and parsed in one place: `small_file` and `parse_source` (SECURITY.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READERS = ("read_text", "read_bytes")  # of any path
PARSERS = {("json", "loads"), ("json", "load"), ("ast", "parse"), ("nbformat", "read"), ("nbformat", "reads"),
           ("pickle", "loads"), ("torch", "load"), ("np", "load"), ("v4", "reads")}  # fmt: skip

# Modules with what they read: none of it can be written by a student.
OWN = {
    "the course's files and the package's own": """
        autograder/assistants/secrecy.py autograder/assistants/statement.py autograder/attacks/stage.py
        autograder/checking/child.py
        autograder/checks/mutation.py autograder/checks/operators.py autograder/checks/properties/purity.py
        autograder/cluster/bundle.py autograder/cluster/course.py autograder/cluster/engine.py
        autograder/cluster/teams.py autograder/corpus/blind.py autograder/corpus/command.py
        autograder/corpus/diagnosis.py
        autograder/corpus/judge.py autograder/corpus/lines.py autograder/corpus/results_file.py
        autograder/corpus/stability.py autograder/diagnosis/compose.py
        autograder/diagnosis/diagnose.py autograder/diagnosis/misconceptions.py autograder/diagnosis/programs.py
        autograder/exercises/answers.py autograder/exercises/injected_modules.py autograder/feedback/html.py
        autograder/feedback/tokens.py autograder/launch/authenticator.py autograder/launch/platforms.py
        autograder/lint/notebook.py autograder/lint/release.py autograder/localize/find.py
        autograder/localize/instrument.py autograder/localize/trace.py autograder/marking/rubric.py
        autograder/nbgrader/config.py autograder/nbgrader/feedback.py autograder/own_tests/adopt.py
        autograder/own_tests/mutants.py autograder/remarks/find.py autograder/report/answers.py
        autograder/report/lti.py autograder/report/recipes.py autograder/report/unexplained.py
        autograder/serve/status.py autograder/settings/course_file.py autograder/settings/page.py
        extension/tfkit_lab/family.py extension/tfkit_lab/lesson.py extension/tfkit_lab/page.py
        extension/tfkit_lab/prediction_card.py extension/tfkit_lab/trace.py""",
    "sources of this package, and wrong answers of a course": """
        autograder/credit/distance.py""",
    "a cell that its reader's own kernel is about to run": """
        extension/tfkit_lab/unsealed.py""",
    "the system's files": """
        autograder/sandbox/bubblewrap.py autograder/sandbox/cgroup.py autograder/sandbox/nvidia.py
        autograder/sandbox/processor.py""",
    "what our own processes wrote, or a framed line of theirs": """
        autograder/assistants/log.py autograder/capstone/results.py autograder/checking/client.py
        autograder/checking/fork_child.py autograder/cluster/grading_process.py autograder/marking/store.py
        autograder/nbgrader/execute.py autograder/nbgrader/unfinished.py autograder/own_tests/grade.py
        autograder/sandbox/inside/portable.py autograder/sandbox/inside/single.py
        autograder/sandbox/inside/wire.py autograder/sandbox/inside/zygote.py extension/tfkit_lab/check.py""",
    "the body of a request, whose length the server bounds": """
        extension/tfkit_lab/handlers.py extension/tfkit_lab/marking.py extension/tfkit_lab/regrade.py""",
    "a notebook that `parse_json` has read": """
        autograder/cluster/gradebook.py autograder/nbgrader/submission.py extension/tfkit_lab/export.py""",
    "the readers themselves": """
        autograder/exercises/parse.py extension/tfkit_lab/show/operations.py""",
}


def calls(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = getattr(node.func.value, "id", getattr(node.func.value, "attr", ""))
            if node.func.attr in READERS or (owner, node.func.attr) in PARSERS:
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {owner}.{node.func.attr}"


def found() -> dict[str, list[str]]:
    """The calls of readers in each module, by its path."""
    modules = (
        path for folder in ("autograder", "extension/tfkit_lab") for path in sorted((ROOT / folder).rglob("*.py"))
    )
    where = {
        path.relative_to(ROOT).as_posix(): [*calls(path)]
        for path in modules
        if not {"benchmark", "hostile", "node_modules"} & set(path.parts)
    }
    return {name: lines for name, lines in where.items() if lines}


def test_students_files_are_read_in_one_place():
    known = set(" ".join(OWN.values()).split())
    new = [line for name, lines in found().items() if name not in known for line in lines]
    assert not new, "\n".join(
        ["use tfkit_course.small_file or parse_source, or say in OWN whose files these are:", *new]
    )


def test_each_excused_module_still_reads_something():
    listed = " ".join(OWN.values()).split()
    assert sorted(set(listed) - found().keys()) == [], "take these out of OWN"
    assert len(listed) == len(set(listed))


def test_a_new_reader_would_be_named(tmp_path, monkeypatch):
    (tmp_path / "autograder" / "cluster").mkdir(parents=True)
    source = "import json\njson.loads(path.read_text())\n"
    (tmp_path / "autograder" / "cluster" / "page.py").write_text(source, encoding="utf-8")  # as others are called
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    name = "autograder/cluster/page.py"
    assert found() == {name: [f"{name}:2: json.loads", f"{name}:2: path.read_text"]}
    with pytest.raises(AssertionError, match=rf"{name}:2: json.loads"):
        test_students_files_are_read_in_one_place()
