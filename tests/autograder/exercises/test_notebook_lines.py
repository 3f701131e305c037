"""Where the lines of a cell stand in the notebook's file, however the file is written."""

from __future__ import annotations

import json

import pytest

from autograder.exercises.notebook_lines import cell_lines

CELLS = [
    {"cell_type": "markdown", "metadata": {"a": [{"b": ["]"]}]}, "source": ["# é\n", "text"]},
    {"cell_type": "code", "source": ["def f():\n", '    return "cells"\n', "\n", "f()"], "outputs": []},
    {"cell_type": "code", "source": [], "outputs": []},
]
NOTEBOOK = {"metadata": {"cells": [1]}, "cells": CELLS, "nbformat": 4}


@pytest.mark.parametrize("indent", [1, 4])
def test_each_line_of_a_source_is_found_in_the_file(indent):
    text = json.dumps(NOTEBOOK, indent=indent)
    lines = text.splitlines()
    found = cell_lines(text)
    assert [len(one) for one in found] == [2, 4, 0]
    for cell, places in zip(CELLS, found, strict=True):
        assert [json.loads(lines[place - 1].strip().rstrip(",")) for place in places] == cell["source"]


def test_a_source_in_one_string_stands_in_one_line():
    text = json.dumps({"cells": [{"source": "a\nb"}, {}, {"source": "c"}]}, indent=1)
    first, none, last = cell_lines(text)
    assert first == [4, 4] and none == [] and '"c"' in text.splitlines()[last[0] - 1]


def test_a_file_without_line_breaks_has_one_line():
    assert cell_lines(json.dumps(NOTEBOOK)) == [[1, 1], [1] * 4, []]
