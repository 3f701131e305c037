"""The hash of the checks covers all code and settings that a verdict depends on."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys

import pytest

from autograder.cluster import bundle, engine
from autograder.cluster.bundle import Bundle, Key, ReleasedNotebook, hash_of_checks
from autograder.cluster.grading_process import WrongVersion
from autograder.cluster.job import grade
from autograder.diagnosis import misconceptions
from autograder.nbgrader.rebuild import GradebookCell

LOADED = """
import sys
from autograder.grade import run
from autograder.nbgrader import execute
from autograder.own_tests import grade
from autograder.sandbox import choose
choose(trust=True)
print(*(module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "autograder"), sep="\\n")
"""


def names(package=engine.PACKAGE):
    return {path.relative_to(package).as_posix() for path in engine.engine_files(package)}


def test_every_module_that_grading_loads_is_covered():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    loaded = {line for line in done.stdout.splitlines() if line.startswith(str(engine.PACKAGE))}
    assert len(loaded) > 50
    assert loaded - set(map(str, engine.engine_files())) == set()


def test_what_functions_import_is_covered_and_what_does_not_grade_is_not():
    scoring = {"api.py", "grade/verdict.py", "exercises/parse.py", "exercises/registry.py", "settings/points.py"}
    scoring |= {f"own_tests/{name}.py" for name in ("grade", "mutants", "proxies")}
    steps = {f"nbgrader/{name}.py" for name in ("execute", "predictions", "rebuild", "submission")}
    assert scoring | steps <= names()
    others = ("assistants/", "launch/", "lint/", "marking/", "serve/", "cli.py", "checking/")
    assert [name for name in names() if name.startswith(others)] == []


def test_statements_are_found_as_in_a_parsed_module():
    def imports(nodes):
        return {ast.dump(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))
                and ("autograder" in ast.unparse(node) or getattr(node, "level", 0))}  # fmt: skip

    for path in engine.engine_files():
        text = path.read_text(encoding="utf-8")
        assert imports(engine.import_statements(text)) == imports(ast.walk(ast.parse(text))), path
    text = "import os, \\\n    autograder.grade.run\nfrom autograder.api import (  # both :)\n    Limits,\n)\n"
    assert len(imports(engine.import_statements(text))) == 2


@pytest.mark.parametrize("name", ["api.py", "nbgrader/predictions.py", "own_tests/proxies.py"])
def test_other_scoring_gives_another_hash(name, tmp_path, monkeypatch):
    """As on a worker with another version, which then refuses."""
    key = Key("ada", "02-masks", "", hash_of_checks({}, {}, "02-masks"))
    other = shutil.copytree(engine.PACKAGE, tmp_path / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(bundle, "engine_files", lambda: engine.engine_files(other))
    monkeypatch.setattr(bundle, "_code_hash", bundle._code_hash.__wrapped__)
    assert hash_of_checks({}, {}, "02-masks") == key.checks
    with (other / name).open("a") as file:
        file.write("MAX_EDGE_SHARE = 1.0\n")
    assert hash_of_checks({}, {}, "02-masks") != key.checks
    with pytest.raises(WrongVersion):
        grade(Bundle(key, {}, {}, {}).to_bytes())


MUTANT = {"words": "without `x`", "source": "pass", "caught by": ["test-1"]}
CAUSAL = GradebookCell("check-masks-causal", "code", "", "", True, True, False, False, 1.0)
RELEASED = {"02-masks": ReleasedNotebook((CAUSAL,))}


@pytest.mark.parametrize(
    "settings",
    [
        {"limits": {"call_s": 20.0}},
        {"packages": ["pandas"]},
        {"mutants": {"02-masks": [MUTANT]}},
        {"weights": {"gradients": 2.0}},
        {"misconceptions": {"masks.causal": [{"name": "a"}]}},
        {"misconceptions": {misconceptions.WRONG: "misconceptions.toml cannot be read"}},
        {"engine": "another.grade"},
        {"a_setting_of_a_later_version": 1},
    ],
)
def test_a_setting_that_changes_verdicts_gives_another_hash(settings):
    assert hash_of_checks(RELEASED, settings, "02-masks") != hash_of_checks(RELEASED, {}, "02-masks")


@pytest.mark.parametrize(
    "settings",
    [
        {"limits": {}, "packages": [], "mutants": {}, "weights": {}, "misconceptions": {}},
        {"mutants": {"03-heads": [MUTANT]}, "misconceptions": {"heads.split": [{"name": "a"}]}},
        {"device": "cuda", "sandbox": "bubblewrap", "trust": True, "key_file": "elsewhere"},
    ],
)
def test_a_setting_that_changes_no_verdict_of_an_assignment_gives_the_same_hash(settings):
    assert hash_of_checks(RELEASED, settings, "02-masks") == hash_of_checks(RELEASED, None, "02-masks")
