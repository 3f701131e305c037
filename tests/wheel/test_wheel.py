"""The wheel, built by `python -m build` from a clean copy of this tree and used outside it: `make test-wheel`.

So that it costs minutes and not a gigabyte, the empty environment sees the packages of the environment that runs this,
by a folder of links to them that leaves this project's out: neither the checkout nor its editable install is on a
path there.
WHEEL_DIST names a folder with a wheel and an sdist that are built already; `make release` does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.wheel
ROOT = Path(__file__).parents[2]
OURS = ("tfkit", "_tfkit", "autograder", "course", "__editable__")
RIGHT = "import torch\n\n\ndef causal_mask(length):\n    return torch.ones(length, length).tril().bool()\n"
WRONG = RIGHT.replace(".tril()", ".tril(-1)")


def run(command: list[str], cwd: Path, timeout: float = 600, **env: str) -> subprocess.CompletedProcess[str]:
    """A command in an environment that knows nothing of this one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL", "JUPYTER"))}
    path = ":".join(part for part in kept["PATH"].split(":") if str(ROOT) not in part)
    if Path(command[0]).name == "python" and Path(command[0]) != Path(sys.executable):
        path = f"{Path(command[0]).parent}:{path}"  # as in an environment that is activated
    return subprocess.run(
        command, cwd=cwd, env={**kept, "PATH": path, **env}, capture_output=True, text=True, timeout=timeout
    )


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """dist/ of a clean copy: what git tracks, or would; no build output but what npm downloaded."""
    if os.environ.get("WHEEL_DIST"):
        return Path(os.environ["WHEEL_DIST"]).resolve()
    clone, dist = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("dist")
    listed = subprocess.run(
        ["git", "ls-files", "-zco", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    modules = ROOT / "extension" / "node_modules"
    if modules.is_dir():  # else jlpm downloads them
        subprocess.run(["cp", "-al", str(modules), str(clone / "extension")], check=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = run([sys.executable, "-m", "build", "--no-isolation", "-o", str(dist)], clone, PATH=path)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return dist


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


def links(tmp: Path) -> Path:
    """Links to the packages of this environment but this project's, in a folder that lies as site-packages do."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    farm = tmp / "packages" / "lib" / version / "site-packages"
    farm.mkdir(parents=True)
    for entry in Path(next(p for p in site.getsitepackages() if p.startswith(sys.prefix))).iterdir():
        if not entry.name.startswith(OURS) and entry.suffix != ".pth":
            (farm / entry.name).symlink_to(entry)
    (tmp / "packages" / "bin").symlink_to(Path(sys.executable).parent)
    return farm


@pytest.fixture(scope="session")
def here(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of this Python that has our wheel, and the packages that it needs."""
    tmp = tmp_path_factory.mktemp("installed")
    made = environment(Path(sys.executable), tmp)
    packages = next((made / "lib").glob("python*/site-packages"))
    (packages / "packages.pth").write_text(f"{links(tmp)}\n")
    install(made, "--no-deps", str(wheel))
    (made / "bin/alembic").symlink_to(Path(sys.executable).parent / "alembic")  # nbgrader calls it by its name
    for part in ("nbconvert", "kernels"):  # their data, which lies in an environment's share/
        if (Path(sys.prefix) / "share/jupyter" / part).is_dir():
            (made / "share/jupyter" / part).symlink_to(Path(sys.prefix) / "share/jupyter" / part)
    return made


def environment(python: Path, tmp: Path) -> Path:
    made = tmp / "env"
    subprocess.run([str(python), "-m", "venv", "--without-pip", str(made)], check=True, timeout=120)
    return made


def install(made: Path, *what: str, timeout: float = 600) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(made / "bin/python"), "install", "-q", *what]
    done = run(pip, made, timeout)
    assert done.returncode == 0, done.stderr[-2000:]


def python(made: Path, tmp: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run([str(made / "bin/python"), *arguments], tmp, OMP_NUM_THREADS="1", HOME=str(tmp))


def test_both_have_the_front_end_and_the_wheel_no_loose_answers(built: Path, wheel: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    assert sdist.name.startswith("tfkit_course-") and wheel.name.startswith("tfkit_course-")
    names = zipfile.ZipFile(wheel).namelist()
    for needed in ("share/jupyter/labextensions/@tfkit/lab/package.json", "lab/static/style.js", "static/decoding.js",
                   "jupyter_server_config.d", "tfkit/py.typed", "autograder/py.typed", "course/py.typed",
                   "tfkit_lab/py.typed", "02-masks/submissions.zip", "02-masks/lesson.py",
                   "autograder/attacks/hostile/files/key_read.py",
                   "course/templates/course/.github/workflows/grade.yml",
                   "course/templates/unit/pyproject.toml"):  # fmt: skip
        assert any(needed in name for name in names), needed
    assert not [name for name in names if "/submissions/" in name and not name.startswith("course/templates/")]
    packed = [name for name in names if name.endswith("submissions.zip")]
    assert len(packed) == len(list((ROOT / "course/units").glob("*/submissions")))
    listed = subprocess.run(["tar", "tzf", str(sdist)], capture_output=True, text=True, check=True).stdout
    assert "tfkit_lab/static/decoding.js" in listed and "tfkit_lab/labextension/package.json" in listed


def test_nothing_of_the_checkout_is_in_reach(here: Path, tmp_path: Path) -> None:
    code = "import json, sys, tfkit, autograder, course, tfkit_lab; print(json.dumps([m.__file__ for m in \
(tfkit, autograder, course, tfkit_lab)] + sys.path))"
    for place in json.loads(python(here, tmp_path, "-c", code).stdout):
        inside = Path(place).is_relative_to(ROOT) and not Path(place).is_relative_to(ROOT / ".venv")
        assert not inside, place


def test_commands(here: Path, tmp_path: Path) -> None:
    for command, expected in [
        (("-m", "tfkit_course", "list"), "bart"),
        (("-m", "autograder", "list"), "attention.scaled_dot_product"),
        (("-m", "autograder", "doctor"), "tfkit-course 0.1.0"),
    ]:
        done = python(here, tmp_path, *command)
        assert done.returncode == 0 and expected in done.stdout, done.stderr


def test_course_is_built(here: Path, tmp_path: Path) -> None:
    done = python(here, tmp_path, "-m", "course.build", "my-course", "--unit", "02-masks")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "my-course/source/02-masks/02-masks.ipynb").is_file()
    assert (tmp_path / "my-course/nbgrader_config.py").is_file()


def test_a_check_names_the_misconception(here: Path, tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    done = python(here, tmp_path, "-m", "autograder", "check", "masks.causal", "right.py", "wrong.py", "--json")
    right, wrong = map(json.loads, done.stdout.splitlines())
    assert right["status"] == "passed", done.stderr
    assert (wrong["status"], wrong["misconception"]) == ("failed", "own_position_hidden")


def test_labextension_is_enabled(here: Path, tmp_path: Path) -> None:
    listed = python(here, tmp_path, "-m", "jupyterlab.labextensions", "list")
    assert "@tfkit/lab" in listed.stderr + listed.stdout and "enabled" in listed.stderr, listed.stderr
    served = python(here, tmp_path, "-m", "jupyter_server.extension.serverextension", "list")
    assert "tfkit_lab" in served.stdout + served.stderr


def test_stepper_becomes_a_page(here: Path, tmp_path: Path) -> None:
    code = """
import tfkit, torch
from tfkit.decode import Greedy
from tfkit_lab import Stepper
model = tfkit.from_config("gpt2", head="causal_lm", vocab_size=11, d_model=8, n_layers=1, n_heads=2).eval()
page = Stepper.live(model, torch.tensor([[1, 2]]), strategy=Greedy(), token=str, max_new_tokens=2).to_html()
print(len(page) > 50_000, "<script" in page)
"""
    done = python(here, tmp_path, "-c", code)
    assert done.stdout.strip() == "True True", done.stderr[-1500:]


def test_a_unit_of_ones_own(here: Path, tmp_path: Path) -> None:
    """The commands of docs/units.md, as they stand there, in a fresh directory."""
    typed = commands("In a package")
    assert typed[0].startswith("python -m course.new") and typed[-1] == "pytest"
    for name in ("pip", "pytest"):  # the scripts that an environment with these packages has
        (here / "bin" / name).write_text(f'#!/bin/sh\nexec "{here}/bin/python" -m {name} "$@"\n')
        (here / "bin" / name).chmod(0o755)
    offline = python(here, tmp_path, "-c", "import hatchling").returncode == 0  # else pip fetches it
    env = {"HOME": str(tmp_path), "OMP_NUM_THREADS": "1", "PATH": f"{here}/bin:{os.environ['PATH']}"}
    if offline:
        env["PIP_NO_BUILD_ISOLATION"] = "0"  # pip's word for: build with what is installed
    done = run(["bash", "-e", "-x", "-c", "\n".join(typed)], tmp_path, 1200, **env)
    run([str(here / "bin/pip"), "uninstall", "-y", "my-unit"], tmp_path, **env)
    assert done.returncode == 0, done.stdout + done.stderr
    for said in (r"right +2 +wrong +3", r"mutants .* survived 0", "no faults", "2 passed"):
        assert re.search(said, done.stdout), done.stdout
    assert (tmp_path / "my-unit/my-course/source/90-my-unit/90-my-unit.ipynb").is_file()


def commands(section: str) -> list[str]:
    """What docs/units.md has the reader type in its section of that name."""
    text = (ROOT / "docs/units.md").read_text(encoding="utf-8").partition(f"## {section}\n")[2]
    block = text.partition("```console\n")[2].partition("```")[0]
    return [line.removeprefix("$ ").partition("  #")[0].strip() for line in block.splitlines() if line.startswith("$ ")]


def test_a_notebook_is_adopted(here: Path, tmp_path: Path) -> None:
    solution = "def half(x):\n    ### BEGIN SOLUTION\n    return x / 2\n    ### END SOLUTION"
    cells = [nbformat.v4.new_code_cell(text) for text in (solution, "assert half(3) == 1.5")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "hw1.ipynb")
    done = python(here, tmp_path, "-m", "autograder", "adopt", "hw1.ipynb", "my-course")
    assert done.returncode == 0 and "no faults" in done.stdout, done.stdout + done.stderr


def python_313() -> Path | None:
    places = [*Path.home().glob(".pyenv/versions/3.13.*/bin/python3.13"), shutil.which("python3.13")]
    return next((Path(place) for place in places if place), None)  # pyenv's own is a shim that may refuse


@pytest.fixture(scope="session")
def newer(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python 3.13 with the wheel and its real dependencies; PyTorch too, where TORCH_INDEX or WHEEL_TORCH asks for it.

    TORCH_INDEX=URL takes the CPU build from there; WHEEL_TORCH=default takes pip's own, with CUDA: 6 GB, five minutes.
    """
    found = python_313()
    if found is None:
        pytest.skip("no Python 3.13 on this machine")
    made = environment(found, tmp_path_factory.mktemp("newer"))
    install(made, "--no-deps", str(wheel))
    wanted = subprocess.run(
        [sys.executable, str(ROOT / "tools/requirements.py"), "lab", "grading"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    wanted = [name for name in wanted if not name.startswith("torch")]
    install(made, "-c", str(ROOT / "constraints.txt"), "pip", "pytest", *wanted)
    return made


def torch_wanted() -> list[str] | None:
    """What pip is told in order to install PyTorch on Python 3.13; None where nobody asked for it."""
    if os.environ.get("TORCH_INDEX"):
        return ["torch", "--index-url", os.environ["TORCH_INDEX"]]
    return ["torch", "-c", str(ROOT / "constraints.txt")] if os.environ.get("WHEEL_TORCH") == "default" else None


@pytest.mark.timeout(2400)  # most of it is pip's
def test_python_313(newer: Path, tmp_path: Path) -> None:
    test_commands_without_torch(newer, tmp_path)
    test_labextension_is_enabled(newer, tmp_path)


@pytest.mark.timeout(2400)
def test_python_313_with_torch(newer: Path, tmp_path: Path) -> None:
    wanted = torch_wanted()
    if wanted is None:
        left_out = "doctor, course.build, a check, the stepper, a unit of one's own and an adopted notebook"
        pytest.skip(f"Python 3.13, not run for want of PyTorch: {left_out}. WHEEL_TORCH=default make test-wheel does")
    try:
        install(newer, *wanted, timeout=1200)
    except subprocess.TimeoutExpired:
        pytest.skip("Python 3.13: PyTorch's 3 GB did not arrive within 20 minutes")
    for number, test in enumerate(WITH_TORCH):
        (tmp_path / str(number)).mkdir()
        test(newer, tmp_path / str(number))


WITH_TORCH = (test_commands, test_course_is_built, test_a_check_names_the_misconception, test_stepper_becomes_a_page,
              test_a_unit_of_ones_own, test_a_notebook_is_adopted)  # fmt: skip


def test_commands_without_torch(here: Path, tmp_path: Path) -> None:
    """Listing costs no PyTorch, neither the time nor the package."""
    for command, expected in [(("-m", "tfkit_course", "list"), "bart"), (("-m", "autograder", "list"), "masks.causal")]:
        done = python(here, tmp_path, *command)
        assert done.returncode == 0 and expected in done.stdout, done.stderr
