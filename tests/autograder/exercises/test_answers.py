"""Right and wrong answers are the same, loose in a checkout and packed in a wheel."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path

from autograder.cluster import bundle
from autograder.exercises import registry
from autograder.exercises.answers import ArchivedAnswer, answers

ROOT = Path(__file__).parents[3]
ID = "masks.causal"
CELLS = frozenset({"check-masks-causal"})


def packed_unit(tmp_path):
    """The unit's folder as a wheel has it, made by the build's own function."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    unit = registry.find(ID).folder
    folder = tmp_path / unit.name
    shutil.copytree(unit, folder, ignore=shutil.ignore_patterns("submissions", "__pycache__"))
    module.pack(unit / "submissions", folder / "submissions.zip")
    return folder


def test_packed_answers_are_the_loose_ones(tmp_path):
    loose = registry.find("masks.softmax")
    packed = replace(loose, folder=packed_unit(tmp_path))
    for kind in ("right", "wrong", "edge"):
        ours, theirs = answers(loose, kind), answers(packed, kind)
        assert ours and all(isinstance(getattr(one, "base", one), ArchivedAnswer) for one in theirs)
        assert [(one.stem, one.name, one.read_text(encoding="utf-8")) for one in ours] == [
            (one.stem, one.name, one.read_text(encoding="utf-8")) for one in theirs
        ]
    assert answers(loose, "rewritten") and not answers(packed, "rewritten")


def test_a_worker_with_the_wheel_has_the_same_checks_as_a_checkout(tmp_path, monkeypatch):
    """Otherwise it would refuse to grade for a grader that runs from a checkout."""
    loose = registry.find(ID)
    folder = packed_unit(tmp_path)
    codes = []
    for exercise in (loose, replace(loose, folder=folder)):
        monkeypatch.setattr(registry, "exercises", lambda exercise=exercise: (exercise,))
        bundle._code_hash.cache_clear()
        codes.append(bundle._code_hash(CELLS))
    bundle._code_hash.cache_clear()
    assert codes[0] == codes[1]
    (folder / "checks.py").write_text("# others")
    assert bundle._code_hash(CELLS) != codes[0]
    bundle._code_hash.cache_clear()
