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

# Whose files are read, and where (module: functions). No student can write them, or they were bounded before.
OWN = {
    "the course's files and the package's own": """
        autograder/assistants/secrecy.py: _lines_of
        autograder/assistants/statement.py: _lesson definition parse setup_of
        autograder/attacks/stage.py: Attack._docstring Attack.text Class.hand_in Class.nbgrader Class.verdict
        autograder/attacks/stage.py: _peak_bytes _print _state descendants
        autograder/checking/child.py: main
        autograder/checks/mutation.py: equivalents
        autograder/checks/operators.py: mutants
        autograder/checks/properties/purity.py: _source
        autograder/cluster/bundle.py: hash_of_code
        autograder/cluster/course.py: Course.secret missing_settings released_in
        autograder/cluster/engine.py: _imported_names import_statements
        autograder/cluster/teams.py: read
        autograder/corpus/blind.py: BlindAnswer.label BlindAnswer.read_text BlindAnswer.without_label _known cells_of
        autograder/corpus/command.py: _show
        autograder/corpus/diagnosis.py: _pairs
        autograder/corpus/judge.py: _judge_edge examine_answer
        autograder/corpus/lines.py: _code measure_answer
        autograder/corpus/results_file.py: CorpusResultsFile.__init__ _rows hash_of_exercise
        autograder/corpus/stability.py: boxed_answer
        autograder/credit/distance.py: _repaired_cells
        autograder/diagnosis/claims.py: has_removed_code rephrase_untrue_sentences
        autograder/diagnosis/compose.py: CombinedMistakes.read_text merged_source subject_of
        autograder/diagnosis/diagnose.py: student_sentence
        autograder/diagnosis/misconceptions.py: _entry read
        autograder/diagnosis/programs.py: Program.__init__ _programs
        autograder/diagnosis/second_mistake.py: _collected_alike _may_merge _mutated_mistakes edited_lines
        autograder/exercises/answers.py: ArchivedAnswer.read_text EditedAnswer.read_bytes RewrittenAnswer.read_bytes
        autograder/exercises/answers.py: _entries _read _under_contract
        autograder/exercises/contracts.py: _inline _is_class _wrapped
        autograder/exercises/injected_modules.py: _module definitions
        autograder/exercises/merge.py: _parsed
        autograder/exercises/section.py: _headings
        autograder/feedback/html.py: style
        autograder/feedback/tokens.py: blocks
        autograder/hub/class_file.py: read
        autograder/hub/config.py: in_the_way text
        autograder/hub/kubernetes.py: files
        autograder/hunts/faults.py: PageSource.tree _parses
        autograder/hunts/make.py: Hunt._base
        autograder/hunts/own_test.py: _others judge_test
        autograder/hunts/page_judge.py: equivalent_sources
        autograder/hunts/page_prove.py: hash_of_page
        autograder/hunts/pages.py: _unseen pages
        autograder/launch/authenticator.py: LTIAuthenticator.save_services
        autograder/launch/platforms.py: read
        autograder/lint/notebook.py: _parsed
        autograder/lint/release.py: leaks make source_notebooks
        autograder/localize/find.py: _tables
        autograder/localize/trace.py: _recorder
        autograder/maintenance/forget.py: _without_row
        autograder/marking/rubric.py: read
        autograder/nbgrader/config.py: _ignore _shipped
        autograder/nbgrader/feedback.py: page_style
        autograder/ordering/flow.py: _effects_of
        autograder/ordering/make.py: make
        autograder/own_tests/adopt.py: _read run_mutants
        autograder/own_tests/mutants.py: _read
        autograder/questions/prove.py: ProofRecord._lines _of version
        autograder/questions/runs.py: _inside_source
        autograder/remarks/find.py: _has_loop
        autograder/report/answers.py: known_answers reference_source
        autograder/report/lti.py: SentLedger.__init__ _connector platform
        autograder/report/recipes.py: _write_workflow archive
        autograder/report/unexplained.py: _edited export_group
        autograder/serve/status.py: page
        autograder/settings/course_file.py: _parse
        autograder/settings/page.py: main
        autograder/variants/command.py: _show
        autograder/variants/prove.py: _in_the_courses_form
        extension/tfkit_lab/card_style.py: card_style
        extension/tfkit_lab/export.py: main renew
        extension/tfkit_lab/family.py: anatomy
        extension/tfkit_lab/lesson.py: lesson_text
        extension/tfkit_lab/sealed.py: _names_of_course
        extension/tfkit_lab/page.py: page translations
        extension/tfkit_lab/trace.py: _validator""",
    "what its reader's own kernel runs, or has run": """
        autograder/hunts/notebook.py: _imports _is_stub
        extension/tfkit_lab/unsealed.py: PassOver.visit_Module
        extension/tfkit_lab/show/operations.py: _assigned""",
    "the system's files": """
        autograder/grade/process.py: _held
        autograder/sandbox/bubblewrap.py: top_level_entries
        autograder/sandbox/cgroup.py: Group._field Group._number Group._processes _mounts _own
        autograder/sandbox/nvidia.py: gpus nodes
        autograder/sandbox/processor.py: _nanoseconds _ticks""",
    "what our own processes wrote, or a framed line of theirs": """
        autograder/assistants/log.py: _entries
        autograder/capstone/results.py: read
        autograder/checking/fork_child.py: _check main
        autograder/console/ask.py: last_object
        autograder/environment/pool.py: Environment._ask
        autograder/environment/worker.py: answer
        autograder/grade/process.py: WorkerProcess.ask
        autograder/marking/store.py: MarkingStore.all_marks
        autograder/nbgrader/execute.py: BoxedExecute._key
        autograder/nbgrader/unfinished.py: _count_death _deaths clear
        autograder/own_tests/grade.py: _lines
        autograder/sandbox/inside/portable.py: main
        autograder/sandbox/inside/single.py: main
        autograder/sandbox/inside/wire.py: WireDecoder.value
        autograder/sandbox/inside/zygote.py: main run_agent spawn""",
    "code that `parse_source` has parsed before": """
        autograder/credit/chosen.py: _parts_left_out _size""",
    "a notebook that `parse_json` has read": """
        autograder/cluster/gradebook.py: GradebookWriter._rows
        autograder/nbgrader/submission.py: parse_counting
        extension/tfkit_lab/export.py: read_notebook""",
    "the readers themselves": """
        autograder/exercises/parse.py: parse_source""",
}


def calls(path: Path) -> Iterator[tuple[str, str]]:
    """(place, line) of each call of a reader; a place is a module with one of its functions or methods."""
    module = path.relative_to(ROOT).as_posix()

    def within(node: ast.AST, function: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute):
                owner = getattr(child.func.value, "id", getattr(child.func.value, "attr", ""))
                if child.func.attr in READERS or (owner, child.func.attr) in PARSERS:
                    yield f"{module}: {function}", f"{module}:{child.lineno}: {owner}.{child.func.attr}"
            named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            yield from within(child, f"{function}.{child.name}".removeprefix("<module>.") if named else function)

    yield from within(ast.parse(path.read_text(encoding="utf-8")), "<module>")


def found() -> dict[str, list[str]]:
    """The calls of readers at each place."""
    where: dict[str, list[str]] = {}
    for folder in ("autograder", "extension/tfkit_lab"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not {"benchmark", "hostile", "clock", "node_modules"} & set(path.parts):
                for place, line in calls(path):
                    where.setdefault(place, []).append(line)
    return where


def excused() -> list[str]:
    """The places in OWN."""
    lines = [line.strip().partition(": ") for line in "\n".join(OWN.values()).splitlines() if line.strip()]
    return [f"{module}: {function}" for module, _, functions in lines for function in functions.split()]


def test_students_files_are_read_in_one_place():
    known = set(excused())
    new = [line for place, lines in found().items() if place not in known for line in lines]
    assert not new, "\n".join(
        ["use tfkit_course.small_file or parse_source, or say in OWN whose files these are:", *new]
    )


def test_each_excused_function_still_reads_something():
    listed = excused()
    assert sorted(set(listed) - found().keys()) == [], "take these out of OWN"
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    "function", ["", "def other(path):\n    ", "class Course:\n    def other(self, path):\n        "]
)
def test_a_new_reader_would_be_named_in_an_excused_module_too(tmp_path, monkeypatch, function):
    name = "autograder/cluster/course.py"
    assert any(place.startswith(f"{name}: ") for place in excused())
    (tmp_path / name).parent.mkdir(parents=True)
    line = function.count("\n") + 2
    source = f"import json\n{function}json.loads(path.read_text())\n"
    (tmp_path / name).write_text(source, encoding="utf-8")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert sorted(sum(found().values(), [])) == [f"{name}:{line}: json.loads", f"{name}:{line}: path.read_text"]
    with pytest.raises(AssertionError, match=rf"{name}:{line}: json.loads"):
        test_students_files_are_read_in_one_place()
