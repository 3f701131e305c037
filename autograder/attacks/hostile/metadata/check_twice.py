"""Adds a second check cell with the same name, which stops a whole class in nbgrader."""

import copy

from nbformat.v4 import new_output


def forge(nb, find):
    cell = copy.deepcopy(find("check-rnn-cell"))
    cell.outputs = [new_output("execute_result", data={"text/plain": "1.0"}, execution_count=1)]
    cell.id = "second"
    nb.cells.insert(0, cell)
    nb.cells.append(copy.deepcopy(cell))
