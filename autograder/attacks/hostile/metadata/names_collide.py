"""Gives its cells the grade ids of the check, in other letters and with characters that are not seen, and its own check."""

import copy


def forge(nb, find):
    for name in ("Check-rnn-cell", "check-rnn-cell\u200b", "check\u2010rnn\u2010cell", "__proto__", "../check-rnn-cell"):
        cell = copy.deepcopy(find("check-rnn-cell"))
        cell["id"] = "solution-rnn-cell"
        cell.metadata["nbgrader"]["grade_id"] = name
        cell["source"] = "print(1.0)"
        nb.cells.append(cell)
