"""The steps of a lesson, as its notebook has them."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from course import units
from course.notebook import source_notebook
from tfkit_lab.steps import steps
from tfkit_lab.unsealed import MIME


def code(key, role, source="", **more):
    return new_code_cell(source, id=key, metadata={"tfkit": {"role": role, **more}})


CELLS = [
    new_markdown_cell("# 02", id="title"),
    code("setup-1", "setup", "import torch"),
    new_markdown_cell("## 1 · The mask", id="text-1"),
    code("predict-a", "predict", prediction="02.a"),
    code("solution", "exercise", exercise="masks.causal"),
    code("check", "check", exercise="masks.causal"),
    code("demo-1", "demo", 'guess = predicted("02.a")'),
    code("demo-2", "demo", "print(1)"),
    new_markdown_cell("text\n## 2 · Experiment", id="text-2"),
    code("experiment-1", "experiment", "x = 1"),
    code("experiment-2", "experiment", "print(x)"),
    new_markdown_cell("## In your own words", id="task", metadata={"tfkit": {"role": "task"}}),
    new_markdown_cell("*Your answer, in two to five sentences.*", id="answer"),
]


def test_a_lesson_is_predict_build_compare_experiment_and_answer():
    found = steps(CELLS, ["masks.causal", "masks.gone"], {})
    assert [(one["kind"], one["cell"], one["title"], one["done"]) for one in found] == [
        ("predict", "predict-a", "1 · The mask", False),
        ("exercise", "solution", "1 · The mask", None),
        ("compare", "demo-1", "1 · The mask", False),
        ("experiment", "experiment-1", "2 · Experiment", False),
        ("task", "answer", "In your own words", False),
        ("exercise", None, "", None),  # its cell is gone
    ]
    assert [one.get("exercise") for one in found if one["kind"] == "exercise"] == ["masks.causal", "masks.gone"]


def test_a_step_is_done_when_the_notebook_and_the_predictions_say_so():
    ran = [{**cell, "execution_count": 3} if cell["id"] == "experiment-2" else cell for cell in CELLS[:-1]]
    ran.append(new_markdown_cell("It *copies* the next word.", id="answer"))
    skipped = {"02.a": {"questions": [], "answers": None, "at": ""}}
    assert [one["done"] for one in steps(ran, [], skipped)] == [True, None, False, True, True]
    compared = {"02.a": {**skipped["02.a"], "observed": []}}
    assert [one["done"] for one in steps(ran, [], compared)] == [True, None, True, True, True]


@pytest.mark.parametrize(
    "output, is_done",
    [
        (new_output("stream", name="stdout", text="1"), True),
        (new_output("error", ename="NameError", evalue="x", traceback=[]), False),
        (new_output("display_data", data={MIME: {"prediction": "02.a"}, "text/plain": "Predict first"}), False),
        (new_output("display_data", data={"text/plain": "1"}), True),
    ],
)
def test_an_experiment_that_stopped_or_was_passed_over_is_not_done(output, is_done):
    cell = {**code("experiment", "experiment", "print(x)"), "execution_count": 3, "outputs": [output]}
    (step,) = steps([cell], [], {})
    assert step["done"] is is_done


def test_every_prediction_of_a_unit_is_a_step_with_its_comparison():
    (folder,) = [folder for folder in units() if folder.name == "02-masks"]
    found = steps(source_notebook(folder).cells, [], {})
    asked = [one["prediction"] for one in found if one["kind"] == "predict"]
    assert asked == ["02.causal", "02.two-axes", "02.hidden-scores", "02.cheat"]
    assert [one["prediction"] for one in found if one["kind"] == "compare"] == asked
    assert found[-1]["kind"] == "task"
