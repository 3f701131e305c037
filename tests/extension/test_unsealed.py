"""Cells that wait for a prediction are passed over, and "Run All" goes on."""

import ast
import symtable

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from course import units
from course.notebook import source_notebook
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


@pytest.mark.parametrize(
    "source",
    [
        "x = 5\nprint(x)",
        "print([row for row in (1, 2)], {row: row for row in 'a'})",
        "for x in range(3):\n    print(x)",
        "for x, rows in {}.items():\n    rows.append(x)\nprint(x)",
        "try:\n    x = load()\n    print(x)\nexcept NotImplementedError:\n    pass\nprint(x)",
        "with open('f') as x:\n    x.read()",
        "import math as x\nx.pi",
        "print([x := 3, x])",
        "class A:\n    x = 1\n    y = x",
        "row = [later for later in 'ab']\nrow",
        "match 3:\n    case x:\n        print(x)",
    ],
)
def test_a_cell_that_defines_a_name_itself_does_not_wait_for_it(source):
    cells = PassOver(lambda: SEALED, set())
    left('guess = predicted("01.x"); x = 1; rows = [row for row in range(3)]', transformer=cells)
    assert set(cells.waiting) == {"guess", "x", "rows"}
    assert left(source, transformer=cells) == left(source)


@pytest.mark.parametrize(
    "source",
    ["x += 1", "x = x + 1", "del x", "for x in x:\n    pass", "print([x for x in x])", "x: int\nx",
     "print([a for a in 'ab' if x])", "def f(a=x):\n    pass", "class A:\n    y = x\n    x = 1",
     "class A(x):\n    pass", "print(x, x := 3)"],
)  # fmt: skip
def test_a_cell_that_uses_a_name_before_it_defines_it_waits(source):
    cells = PassOver(lambda: SEALED, set())
    left('guess = predicted("01.x"); x = 1', transformer=cells)
    assert left(source, transformer=cells)[-1] == CARD
    assert left(source) == [ast.unparse(one) for one in ast.parse(source).body]


def symbols(source):
    """The names that running a source needs, and those that it defines, as Python's own compiler sees them."""
    table = symtable.symtable(source, "cell", "exec")
    at_once = [one for one in table.get_children() if one.get_name() in ("listcomp", "setcomp", "dictcomp", "genexpr")]
    used = {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    used |= {one.get_name() for inner in at_once for one in inner.get_symbols() if one.is_global()}
    defined = {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}
    return used, defined | {one.get_name() for one in table.get_children() if one.get_type() in ("class", "function")}


@pytest.mark.parametrize("folder", units(), ids=lambda folder: folder.name)
def test_what_is_passed_over_in_the_course_has_nothing_else_to_define_its_names(folder):
    kept, gone = set(), set()
    cells = PassOver(lambda: (), kept)
    for cell in (cell for cell in source_notebook(folder).cells if cell.cell_type == "code"):
        statements = [ast.unparse(one) for one in ast.parse(cell.source).body]
        run = left(cell.source, transformer=cells)
        is_whole = "unsealed.show" not in "".join(run)
        for source in run if is_whole else run[:-1]:
            kept |= symbols(source)[1]
        if not is_whole:
            waits, rest = statements[len(run) - 1], statements[len(run) - 1 :]
            used, defined = symbols(waits)
            assert "predicted(" in waits or (used & gone) - kept, waits
            gone |= {name for source in rest for name in symbols(source)[1]}
    assert gone or "predicted(" not in (folder / "lesson.py").read_text(encoding="utf-8")


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
