"""The table of timings: what a run took, whose row is kept, what is too long or not right."""

from __future__ import annotations

from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bench import timings

PASSED = "from IPython.display import HTML\nHTML('<b>2 of 2</b> points')"
FAILED = "from IPython.display import HTML\nHTML('<b>0.5 of 2</b> points')"


def cell(role, source):
    return new_code_cell(source, metadata={"tfkit": {"role": role}})


def test_a_run_is_timed_by_its_cells_and_counts_full_marks():
    spin = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"
    cells = [new_markdown_cell("words"), cell("demo", spin), cell("check", PASSED), cell("check", FAILED)]
    found = timings.run(new_notebook(cells=cells, metadata={"tfkit": {"unit": "02-masks"}}))
    assert found.unit == "02-masks" and found.marks == (1, 2)
    assert found.wall >= found.checks + found.slowest and found.slowest >= 0.5 and found.cpu > 0.5
    assert found.faults() == ["02-masks: 1 of 2 checks gave full marks"]


def test_a_cell_that_stops_is_named_and_nothing_after_it_runs():
    cells = [cell("demo", "x = 1"), cell("demo", "y = x + missing"), cell("check", PASSED)]
    found = timings.run(new_notebook(cells=cells, metadata={"tfkit": {"unit": "02-masks"}}))
    name = cells[1].id
    assert found.faults() == [f"02-masks, cell {name}: NameError: name 'missing' is not defined"]
    assert found.marks == (0, 0)


def timing(unit, cpu=12.0):
    return timings.Timing(unit=unit, wall=20, checks=5, slowest=9, cpu=cpu, marks=(4, 4), machine="a machine")


def test_rows_are_replaced_one_by_one_and_stand_in_order():
    first = timings.merge_rows("", [timing("03-heads"), timing("01-recurrence")])
    again = timings.merge_rows(first, [timing("03-heads", cpu=77)])
    rows = [line for line in again.splitlines() if line.startswith("| 0")]
    assert [row.split(" | ")[0] for row in rows] == ["| 01-recurrence", "| 03-heads"]
    assert "| 12 | 4 of 4 |" in rows[0] and "| 77 | 4 of 4 |" in rows[1]
    assert again.startswith("# How long each unit runs\n") and again.count("| unit | seconds") == 1


def test_sections_below_the_table_stay():
    page = timings.merge_rows("", [timing("03-heads")]) + "\n## Translators\n\nFour of them.\n"
    again = timings.merge_rows(page, [timing("03-heads", cpu=77)])
    assert again.endswith(" |\n\n## Translators\n\nFour of them.\n")
    assert again.count("## Translators") == 1 and "| 77 | 4 of 4 |" in again


def test_a_unit_without_checks_is_given_no_marks():
    assert "| no checks |" in replace(timing("17-capstone", cpu=7), marks=(0, 0)).row()


def test_ten_minutes_are_the_most():
    assert timing("03-heads", cpu=599).faults() == []
    assert timing("03-heads", cpu=601).faults() == ["03-heads: 601 processor seconds"]


def test_an_unknown_unit_is_named(capsys):
    with pytest.raises(SystemExit) as stop:
        timings.main(["--unit", "99-none"])
    assert stop.value.code == 1 and "99-none" in capsys.readouterr().err
