"""What the reader makes of a file that was handed in."""

import json

import nbformat
import pytest

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
