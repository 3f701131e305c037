"""What the reader makes of a file that was handed in."""

import json
import time
import warnings

import nbformat
import pytest

from autograder.cluster.bundle import SubmittedNotebook, hash_of_submission
from autograder.nbgrader import submission


@pytest.mark.parametrize("minor", [0, 2, 4, 5, 9])
def test_a_notebook_of_any_4_becomes_one_whose_cells_have_ids(minor):
    cell = {"cell_type": "code", "source": ["x = ", "1"], "metadata": {}, "outputs": [], "execution_count": 3}
    if minor >= 5:
        cell["id"] = "own"
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": minor})
    nb = submission.parse(text)
    assert (nb.nbformat, nb.nbformat_minor) == (4, 5)
    assert nb.cells[0].source == "x = 1" and nb.cells[0].execution_count is None
    assert nb.cells[0].id == "own" if minor >= 5 else nb.cells[0].id
    assert nbformat.validator.isvalid(nb)


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_of_other_systems_do_not_change_the_hash(ending, tmp_path):
    """Else a notebook saved on Windows would be graded and returned again."""
    file, text = tmp_path / "a.ipynb", nbformat.writes(nbformat.v4.new_notebook())
    file.write_bytes(text.replace("\n", ending).encode())
    found, expected = ({"a": SubmittedNotebook(one)} for one in (submission.text_of(file), text))
    assert hash_of_submission(found) == hash_of_submission(expected)


def _with_outputs(role, number):
    text = {"output_type": "stream", "name": "stdout", "text": "x"}
    cell = {"cell_type": "code", "id": "a", "source": "x", "metadata": {"tfkit": {"role": role}},
            "outputs": [text] * number, "execution_count": None}  # fmt: skip
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_fifty_thousand_outputs_take_no_time_to_read():
    """30 s of the grader before any limit held; only those of demonstrations are shown, and few of them."""
    started = time.process_time()
    kept = [len(submission.parse(_with_outputs(role, 50_000)).cells[0].outputs) for role in ("exercise", "demo")]
    assert kept == [0, submission.OUTPUTS]
    assert time.process_time() - started < 5


def test_a_huge_output_is_left_out_and_a_hundred_thousand_cells_are_refused():
    nb = json.loads(_with_outputs("demo", 2))
    nb["cells"][0]["outputs"][1]["text"] = "x" * submission.MAX_OUTPUT
    assert len(submission.parse(json.dumps(nb)).cells[0].outputs) == 1
    nb["cells"] = [{"cell_type": "raw", "id": f"c{n}", "source": "", "metadata": {}} for n in range(100_000)]
    with pytest.raises(submission.UnreadableNotebook, match="more than 2000 cells"):
        submission.parse(json.dumps(nb))


ATTACHED = {
    "attachments": {f"{n}.png": {"image/png": ""} for n in range(240_000)},
    "formats": {"a.png": {f"a/b{n}": "" for n in range(900_000)}},
    "values": {"a.png": {"image/png": [""] * 900_000}},
    "lists": [[]] * 400_000,
}


@pytest.mark.parametrize("what", ATTACHED)
def test_of_many_attachments_few_are_validated(what):
    """Each is validated in the grader's process: of 900,000 formats, 9 s and 700 MB, twice for each submission."""
    picture = {"cell_type": "markdown", "source": "", "metadata": {}, "attachments": {"b.png": {"image/png": "QQ=="}}}
    cells = [{**picture, "attachments": ATTACHED[what]}, picture]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    kept = [cell.attachments for cell in submission.parse(text).cells]
    assert sum(map(len, kept)) <= submission.OUTPUTS
    assert all(len(formats) <= submission.FORMATS for attached in kept for formats in attached.values())
    assert what == "attachments" or kept[1] == picture["attachments"]


@pytest.mark.parametrize("text", ["[]", "3", '{"cells": 3}', '{"worksheets": [3]}', '{"cells": [{"outputs": {}}]}'])
def test_what_is_no_notebook_is_unreadable(text):
    with pytest.raises(submission.UnreadableNotebook):
        submission.parse(text)


def test_equal_and_missing_ids_of_cells_warn_nobody_and_are_counted():
    """nbformat itself writes two lines for each of them, into the middle of what the grader prints."""
    cells = [{"cell_type": "raw", "id": "same", "source": "", "metadata": {}} for _ in range(40)]
    cells += [{"cell_type": "raw", "source": "", "metadata": {}}]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nb, equal = submission.parse_counting(text)
    assert equal == 39 and len({cell.id for cell in nb.cells}) == 41


BOMBS = {
    "lists in metadata": lambda nb: nb["metadata"].update(bomb=[[] for _ in range(1_700_000)]),
    "an object in metadata": lambda nb: nb["metadata"].update({f"k{n}": n for n in range(1_100_000)}),
    "lists in a cell": lambda nb: nb["cells"][0]["metadata"].update(tfkit={"bomb": [[]] * 1_700_000}),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_notebook_metadata_bomb(bomb):
    """5 MB of `[]` cost 6 s and 662 MB, of which nothing is used; 58 MB of an object 23 s and 1.5 GB."""
    nb = json.loads(_with_outputs("demo", 1))
    BOMBS[bomb](nb)
    text, started = json.dumps(nb), time.process_time()
    with pytest.raises(submission.UnreadableNotebook, match="more than 1,000,000 values"):
        submission.parse(text)
    assert time.process_time() - started < 1


def test_foreign_metadata_is_left_out_before_it_is_validated():
    nb = json.loads(_with_outputs("demo", 1))
    nb["metadata"]["other"] = [[]] * 1000
    nb["cells"][0]["metadata"]["other"] = [[]] * 1000
    found = submission.parse(json.dumps(nb))
    assert found.metadata == {} and found.cells[0].metadata == {"tfkit": {"role": "demo"}}


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_json_has_not_are_in_no_graded_notebook(number):
    """Python reads and writes them; the lab's page then cannot open the notebook."""
    shown = f'{{"output_type": "display_data", "metadata": {{}}, "data": {{"application/json": {{"x": {number}}}}}}}'
    marks = f'{{"nbgrader": {{"points": {number}, "grade_id": "a"}}, "tfkit": {{"role": "demo"}}}}'
    cell = f'{{"cell_type": "code", "id": "a", "metadata": {marks}, "source": "", "outputs": [{shown}]}}'
    nb = submission.parse(f'{{"nbformat": 4, "nbformat_minor": 5, "metadata": {{}}, "cells": [{cell}]}}')
    assert nb.cells[0].metadata.nbgrader == {"grade_id": "a"} and nb.cells[0].outputs == []
    json.dumps(nb, allow_nan=False)


def test_marks_of_a_later_release_make_a_notebook_unreadable_with_the_reason():
    notebook = nbformat.v4.new_notebook(metadata={"tfkit": {"format": 2}})
    with pytest.raises(submission.UnreadableNotebook, match="format 2, .*: install a later release of tfkit-course"):
        submission.parse(nbformat.writes(notebook))
    notebook.metadata.tfkit.format = 1
    assert submission.parse(nbformat.writes(notebook)).metadata.tfkit.format == 1
