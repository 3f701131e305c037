"""Makes the folder the browser tests open: a course unit as a student holds it, notebooks and pages with views.

Usage: prepare.py FOLDER (emptied first). Beside it, in `plugin`, the example of a stranger's package is installed.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from lessons import lessons_page
from marked import live, marked
from timings.data import steps, writer

from autograder.feedback.page import document
from autograder.report import page as class_report
from course.build import build
from course.lite.first_page import write_first_page
from tfkit_lab import to_html
from tfkit_lab.export import export
from tfkit_lab.page import page
from tfkit_lab.views import view_of
from tfkit_lab.widgets import MIME

CARDS = Path(__file__).parents[2] / "tests" / "autograder" / "feedback" / "golden"
GOLDEN = Path(__file__).parents[2] / "tests" / "extension" / "golden"
PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"
PIP = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--upgrade"]
UNIT = "02-masks"
WHY = "own_position_hidden"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}

STEPPER = 'import json\nfrom tfkit_lab import Stepper\nw = Stepper(json.load(open("beam.json")))\nw'
MANY = "from IPython.display import display\nfor _ in range(20):\n    display(Stepper(w.trace))"
PLAIN = """import anywidget
class Plain(anywidget.AnyWidget):
    _esm = "export default {render({el}){el.className = 'plain'}}"
for _ in range(20):
    display(Plain())"""
BRANCH = """import torch, tfkit
from tfkit.decode import Beam, Greedy
from tfkit_lab import Stepper
words = "<pad> <s> </s> the a cat dog sat ran on".split()
torch.manual_seed(0)
small = dict(vocab_size=10, d_model=16, n_layers=2, n_heads=4, max_length=32)
model = tfkit.from_config("gpt2", head="causal_lm", **small).eval()
for parameter in model.parameters():
    parameter.data += 0.3 * torch.randn_like(parameter)
w = Stepper.live(model, torch.tensor([3, 5]), strategy=Greedy(), token=words.__getitem__, end_id=-1, max_new_tokens=6,
                 encode=lambda text: [words.index(word) for word in text.split()])
w"""


AFRESH = "import os\nos.environ.pop('TFKIT_WIDGET_VIEW', None)\n"  # a retry finds the kernel of the try before
BARE = """import torch
from autograder import check
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()
check("masks.causal")"""
# the class panel leaves out what one student predicted and no lesson asks for: this name is a lesson's
PREDICT = """from tfkit_lab.predict import predict
predict("09.noise", predict.number("How many are True for length 4?"), predict.shape("What shape has the mask?"),
        predict.choice("May a position see itself?", "yes", "no"), predict.mask("Which are True in row 1?", 1, 4))"""
COMPARE = """from tfkit_lab.predict import predicted
guess = predicted("09.noise")
guess.compare(10, (4, 4), "yes", [True, True, False, False])"""

FORGET = """from pathlib import Path
Path(".tfkit/recall.json").unlink(missing_ok=True)  # a retry finds the answers of the try before"""
RECALL = """from tfkit_lab.recall import recall
recall("05-transformer", after=["02-masks", "03-heads", "04-positions"])"""

ORDER = """from autograder import order
order("masks.decoder", student="ada")"""


def write_notebook(file: Path, *sources: str, **metadata: object) -> None:
    """Writes a notebook with a code cell for each source, and this metadata besides its kernel."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={**KERNEL, **metadata}), file)


def predictions(root: Path) -> None:
    """A notebook with a prediction and lines to put in order, and what a class has predicted already."""
    write_notebook(root / "predict.ipynb", PREDICT, COMPARE, ORDER)
    write_notebook(root / "recall.ipynb", FORGET, RECALL)
    unsealed = [text.replace("09.noise", "02.open") for text in (PREDICT, COMPARE)]
    write_notebook(root / "unsealed.ipynb", *unsealed, 'print("the end")', tfkit={"unit": "02-open"})
    shared = root.parent / "predictions"
    shutil.rmtree(shared, ignore_errors=True)
    shared.mkdir()
    question = {"kind": "number", "label": "How many parameters with 8 heads?", "within": 0.0}
    for n, (student, answer) in enumerate((("ada", 1050624), ("ben", 8404992), ("chen", 1050624), ("dora", 131328))):
        at = f"2026-01-12T09:00:0{n}+00:00"
        entry = {"questions": [question], "answers": [answer], "at": at, "observed": [1050624]}
        whole = {"student": student, "predictions": {"03.parameters": entry}}
        (shared / f"{student}.{n:016}.json").write_text(json.dumps(whole))


def exported_lesson() -> str:
    """A section of a lesson with phrases that point, a figure of two maps and code, as `tfkit_lab.export` writes it."""
    trace = json.loads((GOLDEN / "pictures" / "matrices.json").read_text())
    figure = nbformat.v4.new_output("display_data", {MIME: {"trace": trace}})
    text = (
        "# Masks\n\n[Row 1](#show:rows=1) is a query, [column 0](#show:map=0&cols=0) a key of the first map, and "
        "[the triangle](#show:code=tril) is [no square](#show:rows=x)."
    )
    code = "import torch\nmask = torch.ones(4, 4, dtype=torch.bool).tril()"
    cells = [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell(code, outputs=[figure])]
    return export(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL))


def graded(course: Path) -> list[dict[str, dict[str, object]]]:
    """A course folder with three graded submissions, as the grader leaves them; the verdicts of each."""
    found = []
    (course / "source").mkdir(parents=True)
    for student, status, why in (("ada", "passed", None), ("ben", "failed", WHY), ("chen", "failed", WHY)):
        verdict = {"exercise": "masks.causal", "status": status, "score": 2.0 * (why is None), "max_score": 2.0}
        verdict |= {"misconception": why, "reason": None, "hint": None, "checks": []}
        found.append({"masks.causal": verdict})
        mark = {"role": "check", "verdict": verdict}
        place = {"role": "exercise", "exercise": "masks.causal"}
        own = nbformat.v4.new_code_cell("def causal_mask(length): ...", metadata={"tfkit": place})
        cell = nbformat.v4.new_code_cell("check()", metadata={"tfkit": mark})
        path = course / "autograded" / student / UNIT / f"{UNIT}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(nbformat.v4.new_notebook(cells=[own, cell], metadata=KERNEL), path)
    measured = (("ada", True, "Ada", 0.104), ("ben", True, "", 0.251), ("chen", False, "Chen", 0.31))
    capstone = {
        student: {
            "listed": listed,
            "called": called,
            "bits": 0.57 + excess,
            "floor": 0.57,
            "excess": excess,
            "seconds": 118,
        }
        for student, listed, called, excess in measured
    }
    (course / "capstone.json").write_text(json.dumps({"17-capstone": capstone}))
    return found


def unit(root: Path) -> None:
    """The folder of a unit as a student holds it, with a due date in the past."""
    build(root / "course", [UNIT])
    shutil.move(root / "course" / "source" / UNIT, root / UNIT)
    shutil.rmtree(root / "course")
    notebook = nbformat.read(root / UNIT / f"{UNIT}.ipynb", as_version=4)
    notebook.metadata["tfkit"]["due"] = "2020-10-12T18:00:00+02:00"
    nbformat.write(notebook, root / UNIT / f"{UNIT}.ipynb")


def notebooks(root: Path) -> None:
    """The notebooks with views, and the package of a stranger that one of them imports."""
    shutil.copy(GOLDEN / "beam.json", root / "beam.json")
    write_notebook(root / "stepper.ipynb", STEPPER, "w.step")
    write_notebook(root / "bare.ipynb", AFRESH + STEPPER, "%env TFKIT_WIDGET_VIEW=1", "w", BARE)
    write_notebook(root / "branch.ipynb", BRANCH, 'w.other["prompt"]')
    write_notebook(root / "many.ipynb", STEPPER, MANY, PLAIN)
    subprocess.run([*PIP, "--target", str(root.parent / "plugin"), str(PLUGIN)], check=True)
    write_notebook(root / "plugin.ipynb", 'from tfkit_example.views import bag\nbag("to be or not to be".split())')


def pages(root: Path) -> None:
    """The pages that work from disk: views, predictions, verdicts, and the page to play with."""
    goldens = [file for folder in (".", "pictures", "patterns") for file in sorted((GOLDEN / folder).glob("*.json"))]
    states = [{"trace": json.loads(file.read_text(encoding="utf-8"))} for file in goldens]
    scripts = {state["trace"]["kind"]: view_of(state["trace"]["kind"]).script for state in states}
    every = page("Every view", states, scripts, ["<h1>Every view</h1><h2>As recorded</h2>"])
    (root / "views.html").write_text(every, encoding="utf-8")
    trace = json.loads((GOLDEN / "beam.json").read_text(encoding="utf-8"))
    (root / "page.html").write_text(to_html(trace), encoding="utf-8")
    (root / "long.html").write_text(steps(writer(), 452, "512 tokens").to_html(), encoding="utf-8")
    (root / "lessons.html").write_text(lessons_page(), encoding="utf-8")
    (root / "exported.html").write_text(exported_lesson(), encoding="utf-8")
    cards = "".join(f"<h2>{file.stem}</h2>{file.read_text(encoding='utf-8')}" for file in sorted(CARDS.glob("*.html")))
    (root / "cards.html").write_text(document("Verdicts", cards), encoding="utf-8")
    (root / "play").mkdir()
    write_first_page(root / "play")


def settings(folder: Path) -> None:
    """JupyterLab's settings: no news, and whole notebooks, of which most tests are."""
    quiet = folder / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True, exist_ok=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    whole = folder / "@tfkit" / "lab" / "reading.jupyterlab-settings"
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_text('{"on": false}')


def main(root: Path) -> None:
    """Writes what the tests open to `root`, which is emptied first, and JupyterLab's settings beside it."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(root.parent / "settings", ignore_errors=True)  # an earlier run's: it has dismissed the tour
    root.mkdir(parents=True)
    unit(root)
    notebooks(root)
    pages(root)
    (root / "report.html").write_text(class_report.page(UNIT, graded(root / "class")), encoding="utf-8")
    marked(root / "marking")
    predictions(root)
    live(root.parent / "predictions")
    settings(root.parent / "settings")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
