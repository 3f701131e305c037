"""Another package: its wheel is built, installed, and used through the same entry points as our own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[1] / "examples" / "plugin"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that has the plugin installed."""
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", str(site)]
    subprocess.run([*pip, str(PLUGIN)], check=True, timeout=500)
    return {**os.environ, "PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"}


def run(plugin: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    env = {**plugin, "PYTHONPATH": os.pathsep.join([plugin["PYTHONPATH"], os.environ["PYTHONPATH"]])}
    return subprocess.run([sys.executable, *command], env=env, capture_output=True, text=True, timeout=500)


def test_architecture(plugin: dict[str, str]) -> None:
    code = (
        "import tfkit, torch; model = tfkit.from_config('bag_of_words', head='sequence_classification', num_labels=3);"
        "print('bag_of_words' in tfkit.architectures(), list(model(input_ids=torch.tensor([[1, 2]])).logits.shape))"
    )
    done = run(plugin, "-c", code)
    assert done.stdout.strip() == "True [1, 3]", done.stderr


def test_objective(plugin: dict[str, str], tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat and the dog ran after it\n" * 40)
    tiny = ["d_model=8", "d_kv=4", "n_layers=1", "n_heads=2", "d_ff=8"]
    done = run(
        plugin, "-m", "tfkit.train", "t5", "--objective", "token_deletion", "--text", str(text), "--length", "16",
        "--batch", "2", "--steps", "2", "--vocabulary", "300", "--out", str(tmp_path / "out"), "--set", *tiny,
    )  # fmt: skip
    assert done.returncode == 0 and "step 2: loss" in done.stdout, done.stderr
    code = (
        "import torch; from tfkit.objectives import trainable; made = trainable()['token_deletion'](0);"
        "out = made.corrupt({'input_ids': torch.tensor([[5, 6, 7]])}, {'drop_u': torch.tensor([[0.9, 0.1, 0.5]])});"
        "print(out['input_ids'].tolist(), out['labels'].tolist())"
    )
    assert run(plugin, "-c", code).stdout.strip() == "[[5, 7]] [[5, 6, 7]]"


def test_property(plugin: dict[str, str]) -> None:
    code = """
from autograder.checks import Case, linear
from autograder.checks.local import LocalSubject
from autograder.checks.probe import examine
check = linear(lambda draw: [Case("f", (draw.normal(2, 3),))])
right, wrong = ({"f": lambda x: x * 3}, {"f": lambda x: x * 3 + 1})
for mine in (right, wrong):
    (finding,) = examine([check], LocalSubject(mine), LocalSubject(right), 1)
    print(len(finding.failed))
"""
    done = run(plugin, "-c", code)
    assert done.stdout.split() == ["0", "1"], done.stderr


def test_sandbox(plugin: dict[str, str]) -> None:
    code = """
from autograder import sandbox
from autograder.sandbox.client import Cell, SandboxClient
backend = sandbox.choose(trust=True, name="nice")
with SandboxClient(backend) as student:
    student.run_cells([Cell("c", "import os; level = os.nice(0)")])
    print(backend.name, student.value("level"))
backend.close()
"""
    done = run(plugin, "-c", code)
    assert done.stdout.split() == ["nice", "19"], done.stderr


def test_grader(plugin: dict[str, str]) -> None:
    done = run(plugin, "-m", "autograder", "benchmark", "list")
    assert "one_assert" in done.stdout and "1 exercises  one assert" in done.stdout, done.stderr


def test_fault_operator(plugin: dict[str, str]) -> None:
    done = run(plugin, "-m", "autograder", "hunts", "show", "page.bert_generation/tokens_shifted")
    assert "self.embed(input_ids.roll(-1, 1))" in done.stdout, done.stderr
    assert "Each position reads the token after it." in done.stdout and "differs from" in done.stdout


def test_view(plugin: dict[str, str]) -> None:
    code = (
        "from tfkit_example.views import bag; view = bag('a b a'.split()); bundle, _ = view._repr_mimebundle_();"
        "print(bundle['application/vnd.tfkit.trace.v1+json']['trace']['counts'], len(view.to_html()) > 2000);"
        "from tfkit_lab.views import view_of; print(isinstance(view, view_of('bag')), view_of('training').__name__);"
        "bag([3])"
    )
    extension = Path(__file__).parents[1] / "extension"
    env = {**plugin, "PYTHONPATH": f"{plugin['PYTHONPATH']}{os.pathsep}{extension}"}
    done = run(env, "-c", code)
    assert done.stdout.splitlines() == ["[['a', 2], ['b', 1]] True", "True Training"], done.stderr
    assert "ValueError: not a tfkit trace: at $.counts[0][0]: 3 is not of type 'string'" in done.stderr


def test_labextension_lies_where_jupyter_looks(plugin: dict[str, str]) -> None:
    folder = Path(plugin["PYTHONPATH"]) / "share/jupyter/labextensions/tfkit-example"
    build = json.loads((folder / "package.json").read_text(encoding="utf-8"))["jupyterlab"]["_build"]
    assert (folder / build["load"]).is_file() and (folder / "static/bag.js").is_file()


def test_exercise_is_listed(plugin: dict[str, str]) -> None:
    listed = run(plugin, "-m", "autograder", "list").stdout
    assert "smoothing.moving_average" in listed and "attention.scaled_dot_product" in listed


def test_unit_is_built_and_sound(plugin: dict[str, str], tmp_path: Path) -> None:
    built = run(plugin, "-m", "course.build", str(tmp_path), "--unit", "90-smoothing")
    assert built.returncode == 0 and (tmp_path / "source/90-smoothing/90-smoothing.ipynb").is_file(), built.stderr
    points = '[[unit]]\nname = "90-smoothing"\npoints = {"smoothing.moving_average" = 4}\n'
    (tmp_path / "course.toml").write_text(points)
    told = run(plugin, "-m", "course.guide", str(tmp_path))
    assert told.returncode == 0, told.stderr
    guide = (tmp_path / "instructors/90-smoothing.md").read_text(encoding="utf-8")
    assert guide.startswith("# 90 · Smoothing: for instructors") and "| 4 | 2 |" in guide
    linted = run(plugin, "-m", "autograder", "lint", str(tmp_path), "90-smoothing")
    assert linted.returncode == 0 and "no faults" in linted.stdout, linted.stdout + linted.stderr


@pytest.mark.parametrize("name", ["right/loop", "right/triangle", "wrong/not_divided", "wrong/sees_the_future"])
def test_exercise_is_checked(plugin: dict[str, str], name: str, tmp_path: Path) -> None:
    whole = run(plugin, "-m", "autograder", "corpus", "show", "smoothing.moving_average", name)
    (tmp_path / "answer.py").write_text(whole.stdout, encoding="utf-8")
    done = run(plugin, "-m", "autograder", "check", "smoothing.moving_average", str(tmp_path / "answer.py"), "--json")
    right = name.startswith("right")
    assert done.returncode == (0 if right else 1), done.stderr
    verdict = json.loads(done.stdout)
    assert verdict["status"] == ("passed" if right else "failed")
    assert verdict["misconception"] == (None if right else name.partition("/")[2])


def test_environment(plugin: dict[str, str]) -> None:
    """A model is asked the package's exercise, and its replies are judged."""
    code = """
from autograder.environment import Environment
replies = {
    "right": "```python\\ndef moving_average(x):\\n    n = torch.arange(1, x.shape[1] + 1)[:, None]\\n"
             "    return x.cumsum(1) / n\\n```",
    "wrong": "def moving_average(x):\\n    return x.mean(1, keepdim=True).expand_as(x)",
}
with Environment(["smoothing.moving_average"], workers=1) as environment:
    print("The mean of what has been seen" in environment.tasks[0]["prompt"][0]["content"])
    for name, reply in replies.items():
        print(name, environment.judge("smoothing.moving_average", reply).score)
"""
    done = run(plugin, "-c", code)
    assert done.stdout.split() == ["True", "right", "1.0", "wrong", "0.0"], done.stderr
