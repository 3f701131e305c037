"""What the lab draws of a lesson without a kernel, and which cells it may run."""

import json
import os
import re
import threading

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from tornado.httpclient import HTTPClientError

from course import units
from course.notebook import source_notebook
from course.translate import in_language
from tfkit_course.small_file import NOTEBOOK_BYTES
from tfkit_lab import lesson, sealed

UNIT = "02-masks"


@pytest.fixture
def unit(jp_root_dir):
    (folder,) = [folder for folder in units() if folder.name == UNIT]
    path = jp_root_dir / UNIT / f"{UNIT}.ipynb"
    path.parent.mkdir()
    nbformat.write(source_notebook(folder), path)
    return path


async def get(jp_fetch, path):
    return json.loads((await jp_fetch("tfkit", "lesson", params={"path": path})).body)


async def test_predictions_are_read_without_a_kernel_and_sealed_once(jp_fetch, unit):
    where = f"{UNIT}/{UNIT}.ipynb"
    found = (await get(jp_fetch, where))["predictions"]
    assert [(one["cell"], one["name"], one["card"]) for one in found][:2] == [
        ("predict-causal", "02.causal", None),
        ("predict-two-axes", "02.two-axes", None),
    ]
    assert [question["kind"] for question in found[0]["questions"]] == ["mask", "choice"]
    lower = [[row >= column for column in range(4)] for row in range(4)]

    async def seal(answers, name="02.causal"):
        body = json.dumps({"path": where, "name": name, "answers": answers})
        return json.loads((await jp_fetch("tfkit", "lesson", method="POST", body=body)).body)["card"]

    for wrong, name in (([lower], "02.causal"), ([lower, "L³"], "02.causal"), (None, "02.unknown"), (7, "02.causal")):
        with pytest.raises(HTTPClientError) as caught:
            await seal(wrong, name)
        assert caught.value.code == 400
    assert "L (L + 1) / 2" in await seal([lower, "L (L + 1) / 2"])
    assert sealed.read(unit.parent)["02.causal"]["answers"] == [lower, ["L (L + 1) / 2"]]
    with pytest.raises(HTTPClientError) as caught:
        await seal([lower, "L"])
    assert "made only once" in caught.value.response.body.decode()
    assert "skipped" in await seal(None, "02.two-axes")
    cards = [one["card"] for one in (await get(jp_fetch, where))["predictions"]]
    assert all(cards[:2]) and not any(cards[2:])


async def test_only_the_courses_own_set_up_is_run_on_opening(jp_fetch, unit):
    where = f"{UNIT}/{UNIT}.ipynb"
    assert (await get(jp_fetch, where))["setup"] == ["demo-1", "setup-1", "demo-2"]
    changed = nbformat.read(unit, as_version=4)
    changed.cells[2].source += "\nimport os; os.system('true')"
    later = [cell.id for cell in changed.cells[4:] if cell.cell_type == "code"]
    nbformat.write(changed, unit)
    own = (await get(jp_fetch, where))["setup"]
    assert own == ["demo-1", "demo-2"] and not set(own) & set(later)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("folder", units(), ids=lambda folder: folder.name)
def test_all_set_up_of_every_unit_is_the_courses_own(folder, language):
    cells = in_language(folder, source_notebook(folder), language).cells
    second = [cell.cell_type for cell in cells].index("markdown", 1)
    keys = [cell.id for cell in cells[1:second]]
    assert lesson.own_setup(cells, lesson.lesson_text(folder.name)) == keys
    sections = (index for index, cell in enumerate(cells) if re.search(r"(?m)^## 1\b", cell.source))
    needed = {cell.id for cell in cells[: next(sections, None)] if cell.id.startswith("setup-")}
    assert needed and needed <= set(keys), "no text may stand between the title and the imports"


def test_a_part_of_a_lesson_is_no_set_up_of_it():
    text = (
        '# %% [markdown]\n# # 02\n\n# %% role="setup"\nimport torch\nx = 1\n\n# %% [markdown]\n# text\n\n# %%\nshow()\n'
    )
    for source, is_own in (
        ("import torch\nx = 1", True),
        ("import torch", False),
        ("x", False),
        ("", False),
        ("show()", False),
    ):
        cells = [new_markdown_cell("# 02"), new_code_cell(source, id="one")]
        assert bool(lesson.own_setup(cells, text)) is is_own, source


@pytest.mark.parametrize("unit", ["", ".", "..", "../units/02-masks", "99-of-nobody"])
def test_a_notebook_cannot_name_another_folder_as_its_unit(unit):
    assert lesson.lesson_text(unit) == ""


def test_a_strangers_cells_are_never_run():
    cells = [
        new_markdown_cell("# 02"),
        new_code_cell("from autograder import check; evil()"),
        new_code_cell("import torch"),
    ]
    assert lesson.own_setup(cells, lesson.lesson_text("99-of-nobody")) == []


@pytest.mark.parametrize("path", ["", "gone.ipynb", "../x.ipynb", "plain.ipynb"])
async def test_what_is_no_lesson_is_refused(jp_fetch, jp_root_dir, path):
    (jp_root_dir / "plain.ipynb").write_text('{"cells": [], "metadata": {}}')
    with pytest.raises(HTTPClientError) as caught:
        await get(jp_fetch, path)
    assert caught.value.code == 400


@pytest.mark.parametrize(
    "source",
    ["", "predict(", 'predict("02.x")', 'predict("02.x", predict.number(name))', 'predict("02.x", predict.evil("a"))',
     'predict("02.x", open("f"))', 'predict(1, predict.number("a"))', 'predict("02.x", predict.choice("a", "b"))'],
)  # fmt: skip
def test_only_questions_that_are_written_out_are_read(source):
    assert lesson.questions_in(source) is None


def test_every_prediction_of_the_course_can_be_read():
    for folder in units():
        cells = source_notebook(folder).cells
        asked = [cell.source for cell in cells if cell.metadata.get("tfkit", {}).get("role") == "predict"]
        assert all(lesson.questions_in(source) for source in asked), folder.name


NESTED = '{"metadata": {"tfkit": {"unit": "02-masks"}}, "cells": ' + "[" * 100_000


@pytest.mark.parametrize("text", ["", "[]", NESTED, '{"metadata": {"tfkit": {"unit": "02-masks"}}, "cells": [3]}'])
async def test_a_damaged_notebook_is_refused_in_a_line(jp_fetch, unit, text):
    unit.write_text(text, encoding="utf-8")
    with pytest.raises(HTTPClientError) as caught:
        await get(jp_fetch, f"{UNIT}/{UNIT}.ipynb")
    assert caught.value.code == 400 and "is not a notebook of a course" in caught.value.response.body.decode()


def test_a_pipe_or_a_huge_file_is_not_read(tmp_path):
    os.mkfifo(pipe := tmp_path / "pipe.ipynb")
    (huge := tmp_path / "huge.ipynb").touch()
    os.truncate(huge, NOTEBOOK_BYTES + 1)
    for path, why in ((pipe, "not a regular file"), (huge, "larger than")):
        with pytest.raises(lesson.NoLesson, match=why):
            lesson.read_lesson(path)


def test_a_prediction_that_is_nested_too_deeply_is_none():
    assert lesson.questions_in('predict("a", ' + "(" * 10_000) is None


async def test_a_prediction_is_sealed_outside_the_servers_own_thread(jp_fetch, unit, monkeypatch):
    threads, seal = [], sealed.seal
    monkeypatch.setattr(sealed, "seal", lambda *given: threads.append(threading.get_ident()) or seal(*given))
    body = json.dumps({"path": f"{UNIT}/{UNIT}.ipynb", "name": "02.causal", "answers": None})
    await jp_fetch("tfkit", "lesson", method="POST", body=body)
    assert threads and threading.get_ident() not in threads
