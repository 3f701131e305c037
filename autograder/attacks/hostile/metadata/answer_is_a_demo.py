"""Declares its answer a demonstration, which is not run, and its demonstration the answer."""


def forge(nb, find):
    cell = find("solution-rnn-cell")
    cell.metadata["tfkit"] = {"role": "demo"}
    cell.metadata.nbgrader["grade_id"] = "check-rnn-cell"
