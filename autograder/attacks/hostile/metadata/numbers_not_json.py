"""Hands in numbers that Python writes and no browser reads, as points, and with keys of other letters."""


def forge(nb, find):
    marks = find("check-rnn-cell").metadata
    marks["nbgrader"] |= {"points": float("nan"), "Points": 1e9, "score": float("inf")}
    marks["tfkit"] = {"role": "check", "exercise": "rnn.cell", "worth": float("-inf")}
    find("solution-rnn-cell").metadata["tfkit"] = {"role": "exercise", "exercise": "rnn.cell", "points": 10**400}
