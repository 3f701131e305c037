"""Puts lists where nbgrader expects names, and numbers where it expects text."""


def forge(nb, find):
    check, answer = find("check-rnn-cell"), find("solution-rnn-cell")
    answer.metadata.nbgrader["schema_version"] = {"a": 1}
    check.metadata.nbgrader["points"] = "NaN"
    check.metadata.nbgrader["grade_id"] = ["check-rnn-cell"]
