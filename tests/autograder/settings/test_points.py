"""Points are earned per property; edges cost at most a quarter, and a course may weigh properties otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_notebook
from traitlets.config import PyFileConfigLoader

from autograder.api import PROPERTIES
from autograder.cluster import bundle
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.grade import run
from autograder.nbgrader import config
from autograder.nbgrader.execute import BoxedExecute, scale_points
from autograder.sandbox import choose
from autograder.settings import points

CAUSAL = registry.find("masks.causal")
SOFTMAX = registry.find("masks.softmax")
SPLIT = registry.find("attention.split_heads")
LOSS = registry.find("objectives.causal_lm")
ATTENTION = registry.find("attention.scaled_dot_product")
NOAM = registry.find("training.noam")

BOOLEANS = "import torch\ndef causal_mask(length):\n    return torch.ones(length, length).tril()"
AVERAGES = """
import math
import torch
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
"""  # as in The Annotated Transformer
IGNORES = """
import torch.nn.functional as F
def causal_lm_loss(logits, ids, pad_id):
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], ignore_index=pad_id)
"""


def graded(exercise, source, **how):
    return run.grade_source(exercise, source, backend=choose(), device="cpu", **how)


def failed(verdict):
    return [check.name for check in verdict.checks if check.status == "failed"]


def test_edges_are_worth_a_quarter_at_most_and_all_is_worth_the_points():
    parts = [("values", 3.0), ("purity", 1.0), ("edges", 90.0), ("edges", 10.0)]
    found = points.shares(parts, 2.0)
    assert sum(found) == pytest.approx(2.0) and found[2] + found[3] == pytest.approx(0.5)
    assert found[0] == pytest.approx(3 * found[1])
    assert points.shares([("edges", 1.0)], 1.0) == [1.0] and points.shares([("values", 0.0)], 1.0) == [0.0]


def test_a_course_weighs_properties():
    parts = [("values", 1.0), ("gradients", 1.0), ("edges", 1.0)]
    assert points.shares(parts, 4.0, {"gradients": 5.0, "edges": 0.0}) == pytest.approx([4 / 6, 20 / 6, 0.0])


def test_weights_are_read_from_the_course_and_bad_ones_are_told(tmp_path):
    path = tmp_path / points.FILE
    assert points.read(path) == {}
    path.write_text("[weights]\ngradients = 2\nedges = 0.5\n")
    assert points.read(path) == {"gradients": 2.0, "edges": 0.5}
    for text, said in [("[weights]\nshape = 1", ", ".join(PROPERTIES)), ("[weights]\ncost = 'much'", "0 or more")]:
        path.write_text(text)
        with pytest.raises(points.BadWeights, match=str(path)) as error:
            points.read(path)
        assert said in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shape": 2}, "has 'shape', which is not one of .*did you mean shapes?"),
        ({"cost": -1}, "cost = -1 must be"),
        (3, "must be a table"),
    ],
)
def test_weights_of_a_configuration_are_checked_as_those_of_the_file(given, message):
    with pytest.raises(points.BadWeights, match=rf"^c\.BoxedExecute\.weights.*{message}"):
        points.check_weights(given, "c.BoxedExecute.weights")


def test_the_weights_of_a_course_reach_the_engine_and_change_what_is_graded_again(tmp_path, monkeypatch):
    (tmp_path / points.FILE).write_text("[weights]\nshapes = 4\n")
    config.install(tmp_path)
    loaded = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path)).load_config()
    given = {}
    monkeypatch.setattr(run, "grade_notebook", lambda nb, exercises, **how: given.update(how) or [])
    execute = BoxedExecute(config=loaded, trust=True)
    where = {"student": "ada", "assignment": "02-masks"}
    execute._grade(new_notebook(), [CAUSAL], where)
    assert given["weights"] == {"shapes": 4.0}
    assert (
        bundle.hash_of_checks({}, {"weights": given["weights"]})
        != bundle.hash_of_checks({})
        == bundle.hash_of_checks({}, {})
    )
    (tmp_path / points.FILE).write_text("[weights]\nspeed = 4\n")  # a configuration that raises would be left out
    loaded = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path)).load_config()
    execute = BoxedExecute(config=loaded, trust=True)
    (verdict,) = execute._grade(new_notebook(), [CAUSAL], where)
    assert verdict.status == "not_graded" and "course.toml: [weights] has 'speed'" in verdict.reason


def test_points_of_checks_are_scaled_as_the_score_is():
    verdict = scale_points(graded(CAUSAL, BOOLEANS, credit="checks"), 6.0)
    assert verdict.score == pytest.approx(4.0, abs=0.05) and sum(c.of for c in verdict.checks) == pytest.approx(6.0)


def test_attention_of_the_annotated_transformer_is_right_in_unit_01_and_the_edge_is_named():
    verdict = graded(ATTENTION, AVERAGES)
    assert (verdict.status, verdict.score) == ("passed", ATTENTION.points)
    (edge,) = [check for check in verdict.checks if check.name == "a row that may see nothing"]
    assert edge.of == 0 and "spread evenly over these hidden keys" in edge.message and "unit 02-masks" in edge.message


@pytest.mark.parametrize(
    ("exercise", "source", "name"),
    [
        (LOSS, IGNORES, "nan_when_nothing_is_predicted"),
        (SOFTMAX, answers(SOFTMAX, "edge")[0].read_text(), "empty_row_averages"),
    ],
    ids=["ignore_index", "softmax"],
)
def test_what_is_right_but_at_an_edge_keeps_three_quarters_and_is_named(exercise, source, name):
    verdict = graded(exercise, source)
    assert verdict.status == "failed" and verdict.misconception == name and len(failed(verdict)) == 1
    assert 0.75 * exercise.points <= verdict.score < exercise.points
    assert sum(check.points for check in verdict.checks) == pytest.approx(verdict.score, abs=0.01)
    assert sum(check.of for check in verdict.checks) == pytest.approx(exercise.points)


def test_right_numbers_of_another_type_lose_the_points_for_types_alone():
    verdict = graded(CAUSAL, BOOLEANS, credit="checks")
    assert failed(verdict) == ["shapes and types"] and verdict.misconception == "numbers_instead_of_booleans"
    assert verdict.score == pytest.approx(4 / 6 * CAUSAL.points, abs=0.01)
    heavier = graded(CAUSAL, BOOLEANS, weights={"shapes": 4.0}, credit="checks")
    assert heavier.score == pytest.approx(4 / 12 * CAUSAL.points, abs=0.01)
    assert graded(CAUSAL, BOOLEANS, weights={"shapes": 4.0}).score == pytest.approx(0.7 * CAUSAL.points)


OTHER_TRIANGLE = BOOLEANS.replace("tril", "triu")
NOISE = "import torch\n\ndef causal_mask(length):\n    return torch.rand(length, length) < 0.5"


def test_wrong_values_earn_nothing_by_the_checks_alone():
    verdict = graded(CAUSAL, OTHER_TRIANGLE, credit="checks")
    assert verdict.score == 0.0 and all(check.points == 0.0 for check in verdict.checks)


def test_the_distance_counts_in_every_check_and_only_where_it_is_known():
    one, none = graded(CAUSAL, OTHER_TRIANGLE.replace("length)", "length, dtype=torch.bool)")), graded(CAUSAL, NOISE)
    assert (one.distance, one.score) == (1, pytest.approx(0.7 * CAUSAL.points))
    assert sum(check.points for check in one.checks) == pytest.approx(one.score)
    assert all(check.points for check in one.checks if check.status == "passed" and check.of)
    assert (none.distance, none.score) == (None, 0.0)


def test_a_course_chooses_the_rule_of_credit(tmp_path, monkeypatch):
    given = {}
    monkeypatch.setattr(run, "grade_notebook", lambda nb, exercises, **how: given.update(how) or [])
    for text, rule in (("", "distance"), ('[grading]\ncredit = "checks"\n', "checks")):
        (tmp_path / points.FILE).write_text(text)
        config.install(tmp_path)
        loaded = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path)).load_config()
        where = {"student": "ada", "assignment": "02-masks"}
        BoxedExecute(config=loaded, trust=True)._grade(new_notebook(), [CAUSAL], where)
        assert given["credit"] == rule
    (tmp_path / points.FILE).write_text('[grading]\ncredit = "kindness"\n')
    loaded = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path)).load_config()
    (verdict,) = BoxedExecute(config=loaded, trust=True)._grade(new_notebook(), [CAUSAL], where)
    assert verdict.status == "not_graded" and 'must be "distance" or "checks"' in verdict.reason
    for given in ("half", "by heart", {"rule": "checks"}):
        with pytest.raises(points.BadCredit, match=f"c.BoxedExecute.credit is {given!r}, and must be"):
            points.check_credit(given, "c.BoxedExecute.credit")


def test_a_course_takes_lines_in_order_for_a_part_of_the_points(tmp_path, monkeypatch):
    given = {}
    monkeypatch.setattr(run, "grade_notebook", lambda nb, exercises, **how: given.update(how) or [])
    where, file = {"student": "ada", "assignment": "02-masks"}, tmp_path / points.FILE
    config.install(tmp_path)

    def graded():
        loaded = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path)).load_config()
        return BoxedExecute(config=loaded, trust=True)._grade(new_notebook(), [CAUSAL], where)

    graded()
    assert "ordered" not in given
    file.write_text("[grading]\nordered = 0.5\n")
    graded()
    assert given["ordered"] == 0.5
    file.write_text("[grading]\nordered = 50\n")
    (verdict,) = graded()
    assert verdict.status == "not_graded" and "must be a number above 0 and at most 1" in verdict.reason


def test_a_rule_of_credit_that_cannot_be_read_is_an_error_of_its_own(tmp_path):
    path = tmp_path / points.FILE
    path.write_text('[grading]\ncredit = "kindness"\n')
    with pytest.raises(points.BadCredit, match=str(path)) as error:
        points.read_credit(path)
    with pytest.raises(points.BadCredit) as stored:
        points.check_credit(points.credit_setting(path), "c.BoxedExecute.credit")
    assert str(stored.value) == str(error.value) and "\n" not in str(error.value)


def test_an_older_configuration_grades_by_distance_as_the_handbook_says(tmp_path):
    config.install(tmp_path)
    (tmp_path / points.FILE).write_text('[grading]\ncredit = "checks"\n')
    file, line = tmp_path / "nbgrader_config.py", "c.BoxedExecute.credit = "
    kept = [text for text in file.read_text().splitlines(keepends=True) if not text.startswith(line)]
    file.write_text("".join(kept))
    loaded = PyFileConfigLoader(file.name, path=str(tmp_path)).load_config()
    assert BoxedExecute(config=loaded).credit == "distance"
    root = Path(__file__).parents[3]
    for document in ("docs/teaching.md", "CHANGELOG.md"):
        assert line.rpartition(" = ")[0] in (root / document).read_text(encoding="utf-8")


@pytest.mark.parametrize("exercise", [CAUSAL, SPLIT], ids=["one", "two"])
def test_an_untouched_stub_is_not_written_yet(exercise):
    stubs = [f"def {name}(*a, **k):\n    # your code here\n    raise NotImplementedError" for name in exercise.symbols]
    verdict = graded(exercise, "\n".join(stubs))
    assert (verdict.status, verdict.score, verdict.reason, verdict.hint) == ("failed", 0.0, "not written yet", None)
    (check,) = verdict.checks
    assert all(f"`{name}`" in check.message for name in exercise.symbols) and verdict.counterexample is None


def test_one_of_two_that_is_not_written_is_said():
    half = "def split_heads(x, h):\n    return x.unflatten(-1, (h, -1)).transpose(1, 2)\n"
    verdict = graded(SPLIT, half + "def merge_heads(x):\n    raise NotImplementedError()")
    assert verdict.hint == "`merge_heads`: not written yet." and len(verdict.checks) > 1


@pytest.mark.parametrize("number", ["10 ** 395", "-10 ** 5000", "1e308 * 10"])
def test_an_answer_too_large_for_a_float_is_wrong_and_not_ungraded(number):
    verdict = graded(NOAM, f"def noam_rate(step, d_model, warmup):\n    return {number}")
    assert (verdict.status, verdict.score) == ("failed", 0.0)


def test_what_passed_says_what_was_not_run():
    source = answers(SPLIT, "right")[0].read_text()
    verdict = graded(SPLIT, source)
    assert verdict.status == "passed" and verdict.reason.startswith("Not run here: on a CUDA device (")
    from autograder.feedback.text import verdict_text

    assert "passed (not run: on a CUDA device)" in verdict_text(verdict.as_json())
