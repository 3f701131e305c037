"""Cells that wait for a prediction are passed over, and "Run All" goes on."""

import ast

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from tfkit_lab import sealed
from tfkit_lab.unsealed import MIME, PassOver

SEALED = {"01.made"}


def left(source, known=(), transformer=None):
    """The names of what is still called or defined."""
    module = (transformer or PassOver(lambda: SEALED, set(known))).visit(ast.parse(source))
    return [ast.unparse(statement) for statement in module.body]


CARD = "__import__('tfkit_lab.unsealed').unsealed.show('01.x')"


def test_a_cell_runs_up_to_the_prediction_that_is_missing():
    assert left('def f():\n    pass\nguess = predicted("01.x")\nf()') == ["def f():\n    pass", CARD]
    assert left('guess = predicted("01.made")\nf()') == ["guess = predicted('01.made')", "f()"]
    assert left('try:\n    predicted("01.x").compare(3)\nexcept NotImplementedError:\n    pass') == [CARD]


def test_later_cells_wait_for_what_was_not_defined():
    cells = PassOver(lambda: SEALED, set())
    left('guess = predicted("01.x")\nruns = {}\nimport math as m', transformer=cells)
    assert left("print(1)\nfor name in runs:\n    pass", transformer=cells) == ["print(1)", CARD]
    assert left("m.pi", transformer=cells) == [CARD]
    assert left("def later():\n    return runs", transformer=cells) == ["def later():\n    return runs"]
    cells.known.add("runs")  # the reader has defined it
    assert left("print(runs)", transformer=cells) == ["print(runs)"]


def test_nothing_is_passed_over_where_nobody_could_predict():
    assert left("predicted('01.x')", transformer=PassOver(lambda: None, set())) == ["predicted('01.x')"]


@pytest.mark.parametrize("is_sealed", [False, True])
def test_a_kernel_goes_on_behind_a_missing_prediction(tmp_path, is_sealed):
    if is_sealed:
        sealed.seal(tmp_path, "01.x", [{"kind": "number", "label": "How many?"}], [3])
    ask = 'from tfkit_lab.predict import predict, predicted\npredict("01.x", predict.number("How many?"))'
    sources = [ask, 'guess = predicted("01.x")\nfound = 3\nguess.compare(found)', "print(found)", "print('the end')"]
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    client = NotebookClient(notebook, timeout=100, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}})  # fmt: skip
    with client.setup_kernel():
        client.kc.allow_stdin = True  # as a front end says with each cell
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)  # raises where a cell stops with an error
    cards = [[out.data[MIME] for out in cell.outputs if MIME in out.get("data", {})] for cell in notebook.cells]
    waits = [] if is_sealed else [{"prediction": "01.x"}]
    assert cards == [[], waits, waits, []]
    assert notebook.cells[3].outputs[0].text == "the end\n"
