"""The table of a student's own model, as the home page gets it: what is read, what is refused, where it is found."""

import json

import pytest

from tfkit_lab import course
from tfkit_lab.model_table import TABLE_BYTES, for_home_page, read_table

LINE = {"unit": 1, "own": 1, "of": 1, "steps": 100, "bits_per_byte": 4.25, "bytes_per_second": 9000.0}
PUT_IN = "from course import my_model\n\nmy_model.add_unit('01-start')"


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def unit(root, name, source=PUT_IN):
    """The notebook of a unit with an exercise and a cell that may put its parts into the model."""
    cells = [
        {"id": "a", "cell_type": "code", "metadata": {"tfkit": {"role": "exercise", "exercise": name}}, "source": ""},
        {"id": "demo-7", "cell_type": "code", "metadata": {}, "source": source.splitlines(keepends=True)},
    ]
    write(root / name / f"{name}.ipynb", json.dumps({"cells": cells, "metadata": {}}))


def test_lines_come_in_the_units_order_and_the_last_of_a_unit_counts(tmp_path):
    again = LINE | {"bits_per_byte": 3, "writes": "x" * 1000, "seconds": 2.0}
    path = write(tmp_path / "table.jsonl", LINE | {"unit": 2}, LINE, "\n", again)
    first, second = read_table(path)
    assert [first["unit"], first["bits_per_byte"], second["unit"], second["writes"]] == [1, 3, 2, ""]
    assert set(first) == {*LINE, "writes"} and len(first["writes"]) == 200
    assert read_table(tmp_path / "none.jsonl") == []


def test_a_line_ends_at_a_newline_and_at_no_other_character(tmp_path):
    strange = "a\x0b\x1c\x85\u2028b"  # Python's splitlines would end a line at each
    path = tmp_path / "table.jsonl"
    path.write_text(json.dumps(LINE | {"writes": strange}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [line["writes"] for line in read_table(path)] == [strange]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]\n",
        "3\n",
        "[" * 100_000,
        '{"unit": 1, "own": 1, "of": 1, "steps": 100, "bits_per_byte": NaN, "bytes_per_second": 9}\n',
        '{"unit": 1, "own": 1, "of": 1, "steps": 100, "bits_per_byte": 1e999, "bytes_per_second": 9}\n',
        LINE | {"unit": True},
        LINE | {"unit": "1"},
        LINE | {"own": -1},
        LINE | {"own": 2},
        LINE | {"steps": 0},
        LINE | {"bytes_per_second": 10**400},
        LINE | {"bits_per_byte": -1.0},
        " " * (TABLE_BYTES + 1),
    ],
    ids=lambda line: str(line)[:40].strip(),
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path, line):
    with pytest.raises(ValueError, match="delete it, and put the parts in again") as refused:
        read_table(write(tmp_path / "table.jsonl", line))
    assert "\n" not in str(refused.value)


def test_a_link_is_not_followed(tmp_path):
    write(tmp_path / "other.jsonl", LINE)
    (tmp_path / "table.jsonl").symlink_to("other.jsonl")
    with pytest.raises(ValueError, match="it is a link"):
        read_table(tmp_path / "table.jsonl")


def test_the_table_is_found_beside_the_units_and_the_cell_in_their_notebooks(tmp_path):
    unit(tmp_path / "my-course", "01-start")
    unit(tmp_path / "my-course", "08-encoders", "print('# my_model.add_unit()')")
    units = course.units(tmp_path)
    assert [one["model_cell"] for one in units] == ["demo-7", None]
    assert for_home_page(tmp_path, units) == {"lines": [], "damaged": False}
    write(tmp_path / "my-course" / "my_model" / "table.jsonl", LINE)
    assert for_home_page(tmp_path, units) == {"lines": [LINE | {"writes": ""}], "damaged": False}
    assert for_home_page(tmp_path, units[1:]) is None


async def test_a_damaged_table_leaves_the_course_as_it_is(jp_fetch, jp_root_dir):
    unit(jp_root_dir, "01-start")
    write(jp_root_dir / "my_model" / "table.jsonl", "NaN\n")
    found = json.loads((await jp_fetch("tfkit", "course")).body)
    assert [one["name"] for one in found["units"]] == ["01-start"]
    assert found["model"] == {"lines": [], "damaged": True}
