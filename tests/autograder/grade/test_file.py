"""Reading what is to be graded: Python files and notebooks."""

from __future__ import annotations

import json

import pytest

from autograder.console.base import BadInput
from autograder.grade.file import read

NOTEBOOK = {"cells": [{"cell_type": "code", "source": "é = 1", "metadata": {}}], "nbformat": 4, "nbformat_minor": 5}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_a_notebook_is_read_as_editors_on_any_system_save_it(tmp_path, encoding):
    path = tmp_path / "a.ipynb"
    path.write_bytes(json.dumps(NOTEBOOK, ensure_ascii=False).encode(encoding))
    assert read(path) == NOTEBOOK


def test_a_byte_order_mark_is_no_part_of_a_python_file(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes("é = 1\n".encode("utf-8-sig"))
    assert read(path) == "é = 1\n"
    path.write_bytes(b"\xe9 = 1\n")
    with pytest.raises(BadInput, match="cannot be read"):
        read(path)


@pytest.mark.parametrize(("tfkit", "refused"), [({"format": 2}, True), ({"format": "odd"}, False), ([], False)])
def test_a_notebook_whose_marks_are_of_a_later_release_is_refused(tmp_path, tfkit, refused):
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps({"cells": [], "metadata": {"tfkit": tfkit}}))
    if refused:
        with pytest.raises(BadInput, match="a.ipynb: its metadata has format 2, .*: install a later release"):
            read(file)
    else:
        assert read(file)["cells"] == []
