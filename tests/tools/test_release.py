"""What `make release` refuses, and that recipe, workflow and version agree with pyproject.toml."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from autograder.nbgrader.config import PRIVATE
from tools import release

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMED = ("pyproject.toml", "CHANGELOG.md", "extension/package.json", "packaging/recipe.yaml")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with the files that name the version and a Dockerfile with a digest, committed and tagged."""
    for name in NAMED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "Dockerfile").write_text(f"FROM python:3.11@sha256:{'0' * 64}\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "All")
    git(tmp_path, "tag", f"v{release.version()}")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_a_tagged_and_clean_tree_can_be_released(tree: Path) -> None:
    assert list(release.faults_before(tree)) == []


def test_uncommitted_files_and_a_commit_without_the_tag_are_refused(tree: Path) -> None:
    (tree / "new.py").touch()
    assert list(release.faults_before(tree)) == ["1 files are not committed, such as new.py: commit or remove them"]
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "More")
    (fault,) = release.faults_before(tree)
    assert fault.startswith(f"this commit has no tag v{release.version()}")


@pytest.mark.parametrize("name", NAMED[1:])
def test_a_file_that_names_another_version_is_refused(tree: Path, name: str) -> None:
    text = (tree / name).read_text(encoding="utf-8")
    (tree / name).write_text(text.replace(release.version(), "9.9.9"), encoding="utf-8")
    assert [fault for fault in release.faults_before(tree) if name in fault and release.version() in fault]


def test_an_image_by_its_tag_alone_is_refused(tree: Path) -> None:
    (tree / "Dockerfile").write_text("ARG BASE=python:3.11\nFROM ${BASE}\n")
    git(tree, "commit", "-qam", "A tag")
    git(tree, "tag", "-f", f"v{release.version()}")
    (fault,) = release.faults_before(tree)
    assert fault.startswith("Dockerfile: BASE = python:3.11 has no digest") and "`make pin-images`" in fault


def test_every_place_names_the_version_now() -> None:
    said = [
        fault
        for fault in release.faults_before()
        if not any(words in fault for words in ("not committed", "no tag", "no digest"))
    ]
    assert said == []


def dist(tmp_path: Path, wheel: tuple[str, ...], sdist: tuple[str, ...]) -> Path:
    with zipfile.ZipFile(tmp_path / "tfkit_course-1.0-py3-none-any.whl", "w") as made:
        for name in wheel:
            made.writestr(name, "")
    (tmp_path / "empty").touch()
    with tarfile.open(tmp_path / "tfkit_course-1.0.tar.gz", "w:gz") as packed:
        for name in sdist:
            packed.add(tmp_path / "empty", f"tfkit_course-1.0/{name}")
    return tmp_path


def test_what_is_missing_and_what_must_not_be_published_is_named(tmp_path: Path) -> None:
    assert list(release.faults_of(dist(tmp_path, release.NEEDED, ("README.md",)), "1.0")) == []
    kept = "tests/data/releases/0.1.0/course/submitted/ada/a.ipynb"
    found = list(release.faults_of(dist(tmp_path, release.NEEDED[1:], ("my/course.key", kept)), "1.0"))
    assert found == [
        "tfkit_course-1.0-py3-none-any.whl lacks tfkit/py.typed",
        "tfkit_course-1.0.tar.gz holds my/course.key, which must not be published",
    ]
    (only,) = release.faults_of(tmp_path, "1.1")
    assert "in place of tfkit_course-1.1-py3-none-any.whl and" in only


def test_whatever_a_course_keeps_private_is_never_published() -> None:
    private = [name.replace("*", "-wal").rstrip("/") for name in PRIVATE if not name.startswith("/")]
    assert "students.csv" in private and "gradebook.db-wal" in private
    for name in (*private, ".venv"):
        assert release.is_unpublishable(name) and release.is_unpublishable(f"a/{name}"), name
    for name in ("autograder/feedback", "autograder/feedback/html.py", "tests/autograder/feedback/test_html.py"):
        assert not release.is_unpublishable(name)
    assert release.is_unpublishable("a/submitted/ada/a.ipynb") and not release.is_unpublishable("a/students.csv.md")


def test_a_folder_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["/nonexistent"]) == 1
    assert capsys.readouterr().err == "release: /nonexistent is not a folder: `make release` builds dist/\n"


def test_the_recipe_has_the_requirements_and_commands_of_the_project() -> None:
    recipe = yaml.safe_load((ROOT / "packaging/recipe.yaml").read_text(encoding="utf-8"))
    wanted = {re.sub(r"^torch\b", "pytorch", line.replace(">=", " >=")) for line in PROJECT["dependencies"]}
    assert {*recipe["requirements"]["run"]} == {*wanted, f"python {PROJECT['requires-python']}"}
    commands = [f"{name} = {place}" for name, place in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == commands
    assert recipe["about"]["license"] == PROJECT["license"] and recipe["context"]["name"] == PROJECT["name"]


def test_the_workflow_stores_no_secret_and_covers_every_python_of_the_project() -> None:
    text = (ROOT / ".github/workflows/publish.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert "secrets." not in text and jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "install" and jobs["install"]["needs"] == "build"
    named = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", line)}
    assert named <= {*jobs["install"]["strategy"]["matrix"]["python"]}
