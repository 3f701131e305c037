"""Points for predictions, where a course.toml gives any: built, released and graded by nbgrader's commands."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.nbgrader import predictions
from course import settings

from .conftest import COUNTING, Course, find, points_in_cluster

CALLS = ("predict(\n    ", "guess = predicted(")  # of the cell that asks, and of the one below, which waits


@pytest.fixture(scope="module")
def course(counting: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    return Course(shutil.copytree(counting, tmp_path_factory.mktemp("predicting") / "course"))


def hand_in(course: Course, student: str, made: int, padding: int = 0) -> int:
    """Hand in a notebook with so many of the predictions made and the next one passed over, and so many blanks at the
    end of their file; how many there are."""
    nb = nbformat.read(course.root / "release" / "02-masks" / "02-masks.ipynb", as_version=4)
    names = re.findall(r'"([^"]+)"', find(nb, "predictions").source)
    folder = course.hand_in(student, nb).parent
    entries = {name: {"answers": [1], "questions": [{}], "at": "now"} for name in names[:made]}
    entries |= {name: {"answers": None, "questions": [{}], "at": "now"} for name in names[made : made + 1]}
    (folder / ".tfkit").mkdir()
    (folder / predictions.FILE).write_text(json.dumps({"predictions": entries}) + " " * padding)
    return len(names)


def points(course: Course, student: str) -> float:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "tfkit") as gradebook:
        return gradebook.find_grade("predictions", "02-masks", "02-masks", student).score


def test_predictions_earn_their_share_from_nbgrader_and_in_a_cluster(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = hand_in(course, "all", 99)
    hand_in(course, "one", 1)
    hand_in(course, "huge", 99, padding=predictions.MAX_BYTES)
    hand_in(course, "link", 0)
    linked = course.root / "submitted" / "link" / "02-masks" / predictions.FILE
    linked.unlink()
    linked.symlink_to(course.root / "submitted" / "all" / "02-masks" / predictions.FILE)
    course.nbgrader("autograde", "02-masks")
    assert count > 1
    expected = {"all": 2.0, "one": pytest.approx(2 / count), "huge": 0.0, "link": 0.0}
    assert {student: points(course, student) for student in expected} == expected
    verdict = find(course.graded("one"), "predictions").metadata.tfkit.verdict
    assert verdict["checks"][0]["message"].startswith(f"1 of {count} predictions were made; not 02.")
    assert points_in_cluster(course, predictions.GRADE_ID, monkeypatch) == expected


MADE = '{"predictions": {"02.a": {"answers": [1]}}}'
DAMAGED = [
    "",
    "{",
    "[]",
    '{"predictions": 3}',
    '{"predictions": {"02.a": 1}}',
    '{"predictions": {"02.a": {"answers": "1"}}}',
    "[" * 100_000,
    MADE + " " * predictions.MAX_BYTES,
]


def write(folder: Path, text: str) -> Path:
    (folder / ".tfkit").mkdir(parents=True)
    (folder / predictions.FILE).write_text(text)
    return folder


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_earns_nothing(tmp_path: Path, text: str) -> None:
    cell = nbformat.v4.new_code_cell('predictions_made("02.a")', metadata={"nbgrader": {"points": 1}})
    assert predictions.grade(cell, predictions.answered_predictions(tmp_path)).score == 0
    assert predictions.grade(cell, predictions.answered_predictions(write(tmp_path / "made", MADE))).score == 1
    assert predictions.grade(cell, predictions.answered_predictions(write(tmp_path / "damaged", text))).score == 0


def test_links_and_special_files_are_not_read(tmp_path: Path) -> None:
    other = write(tmp_path / "other", MADE)
    linked_file, linked_folder, pipe = (tmp_path / name for name in ("file", "folder", "pipe"))
    write(linked_file, "").joinpath(predictions.FILE).unlink()
    (linked_file / predictions.FILE).symlink_to(other / predictions.FILE)
    linked_folder.mkdir()
    (linked_folder / ".tfkit").symlink_to(other / ".tfkit")
    write(pipe, "").joinpath(predictions.FILE).unlink()
    os.mkfifo(pipe / predictions.FILE)  # whoever opens it waits forever
    assert predictions.answered_predictions(other) == {"02.a"}
    assert [predictions.answered_predictions(one) for one in (linked_file, linked_folder, pipe)] == [set()] * 3


def test_the_instructor_is_told_of_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert predictions.predictions_fault(tmp_path) == ""  # nobody has to predict
    assert predictions.predictions_fault(write(tmp_path / "made", MADE)) == ""
    for name, text, why in (
        ("cut", '{"predictions"', "it is not as the lab writes it"),
        ("list", "[1]", "it is not as the lab writes it"),
        ("huge", " " * (predictions.MAX_BYTES + 1), "it is larger than 1,048,576 bytes"),
    ):
        assert f"cannot be read ({why})" in predictions.predictions_fault(write(tmp_path / name, text))
    (tmp_path / ".tfkit").write_text("a file in place of the folder")
    assert "cannot be read (Not a directory)" in predictions.predictions_fault(tmp_path)


@pytest.mark.parametrize("value", ["true", "-1", '"one"'])
def test_points_that_are_no_number_are_refused(tmp_path: Path, value: str) -> None:
    (tmp_path / "course.toml").write_text(COUNTING.replace("predictions = 2", f"predictions = {value}"))
    with pytest.raises(settings.LessonError, match="predictions = .* must be a number of points"):
        settings.read(tmp_path)


def press(client: NotebookClient, cell: nbformat.NotebookNode, message: dict) -> None:
    """Send what the browser sends when a button of the widget in this cell's output is pressed, and wait."""
    (output,) = [one for one in cell.outputs if "application/vnd.jupyter.widget-view+json" in one.get("data", {})]
    model = output.data["application/vnd.jupyter.widget-view+json"]["model_id"]
    content = {"comm_id": model, "data": {"method": "custom", "content": message}}
    client.kc.shell_channel.send(client.kc.session.msg("comm_msg", content))
    client.nb.cells.append(new_code_cell("None"))
    client.execute_cell(client.nb.cells[-1], len(client.nb.cells) - 1)  # the kernel takes messages in their order


def test_a_released_notebook_asks_and_seals_in_a_kernel_with_no_lab_at_all(course: Course, tmp_path: Path) -> None:
    shutil.copytree(course.root / "release" / "02-masks", tmp_path / "mine")
    nb = nbformat.read(tmp_path / "mine" / "02-masks.ipynb", as_version=4)
    code = [n for n, cell in enumerate(nb.cells) if cell.cell_type == "code"]
    asks, below = (next(n for n in code if f'{call}"02.causal"' in nb.cells[n].source) for call in CALLS)
    (first, *_) = answers(registry.find("masks.causal"), "right")
    find(nb, "solution-masks-causal").source = first.read_text(encoding="utf-8")
    client = NotebookClient(
        nb, timeout=200, allow_errors=True, kernel_name="python3", resources={"metadata": {"path": tmp_path / "mine"}}
    )

    def run(place: int) -> nbformat.NotebookNode:
        return client.execute_cell(nb.cells[place], place)

    with client.setup_kernel():
        client.kc.allow_stdin = True  # as every front end says with each cell
        for place in code[: code.index(below) + 1]:
            if not nb.cells[place].source.startswith("check("):
                run(place)
        (card,) = nb.cells[below].outputs  # nothing was computed or shown
        assert card.data["application/vnd.tfkit.unsealed+json"] == {"prediction": "02.causal"}
        guess = [[column <= row for column in range(4)] for row in range(4)]
        press(client, nb.cells[asks], {"do": "seal", "answers": [guess, ["L² / 2"]]})
        run(below)
    said = next(out.data["text/plain"] for out in nb.cells[below].outputs if "data" in out)
    assert said.startswith("02.causal: ≠ 1 of 2 as you predicted")
    (sealed,) = json.loads((tmp_path / "mine" / predictions.FILE).read_text())["predictions"].values()
    assert sealed["answers"] == [guess, ["L² / 2"]] and sealed["observed"] == [guess, ["L (L + 1) / 2"]]
