"""The repository in which the released notebooks are public: their badges, and the cell that installs the course.

`[repository]` of course.toml names it. Colab and Kaggle open notebooks of github.com alone, Binder those of any host.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.settings import course_file
from autograder.settings.course_file import REPOSITORY

GITHUB = "https://github.com/"
REQUIREMENTS = "requirements.txt"
INSTALL = """\
# On Colab and Kaggle this installs the course; elsewhere it does nothing.
import importlib.util
import os
import sys

hosted = "google.colab" in sys.modules or "KAGGLE_KERNEL_RUN_TYPE" in os.environ
if hosted and importlib.util.find_spec("tfkit_course") is None:
    get_ipython().run_line_magic("pip", "install -q -r {requirements}")"""


@dataclass(frozen=True)
class Repository:
    """A repository's address, such as https://github.com/OWNER/REPO, and the branch that links go to."""

    url: str
    branch: str = REPOSITORY.defaults["branch"]

    def raw(self, path: str) -> str:
        """The address of a file's content."""
        return f"{self.url}/{'' if self._on_github else '-/'}raw/{self.branch}/{path}"

    def badges(self, path: str) -> str:
        """Markdown: the badges that open a notebook on the services that can."""
        links = [_badge("Binder", self._binder(path), "https://mybinder.org/badge_logo.svg")]
        if self._on_github:
            name = f"{self.url.removeprefix(GITHUB)}/blob/{self.branch}/{path}"
            links = [
                _badge("Colab", f"https://colab.research.google.com/github/{name}",
                       "https://colab.research.google.com/assets/colab-badge.svg"),
                _badge("Kaggle", f"https://kaggle.com/kernels/welcome?src={GITHUB}{name}",
                       "https://kaggle.com/static/images/open-in-kaggle.svg"),
                *links,
            ]  # fmt: skip
        return " ".join(links)

    def codespace(self) -> str:
        """Markdown: the badge that opens the repository's dev container; "" where there is no such service."""
        link = f"https://codespaces.new/{self.url.removeprefix(GITHUB)}"
        return _badge("Codespaces", link, "https://github.com/codespaces/badge.svg") if self._on_github else ""

    @property
    def _on_github(self) -> bool:
        return self.url.startswith(GITHUB)

    def _binder(self, path: str) -> str:
        where = f"gh/{self.url.removeprefix(GITHUB)}" if self._on_github else f"git/{quote(self.url, safe='')}"
        return f"https://mybinder.org/v2/{where}/{quote(self.branch, safe='')}?labpath={quote(path, safe='')}"


def _badge(service: str, link: str, picture: str) -> str:
    return f"[![Open in {service}]({picture})]({link})"


def repository_of(course_dir: str | Path) -> Repository | None:
    """The repository that the course's own course.toml names. Raises CourseFileError if the file is invalid."""
    given = course_file.read(Path(course_dir) / course_file.FILE).get(REPOSITORY.name)
    return Repository(**given) if given else None


def released_path(unit: str) -> str:
    """Where nbgrader puts the released notebook of a unit, from the top of the repository."""
    return f"release/{unit}/{unit}.ipynb"


def add_links(notebook: NotebookNode, unit: str, repository: Repository) -> None:
    """Put the badges below the notebook's title, and before all other code the cell that installs the course."""
    install = INSTALL.format(requirements=repository.raw(REQUIREMENTS))
    notebook.cells[1:1] = [
        new_markdown_cell(repository.badges(released_path(unit)), id="badges"),
        new_code_cell(install, id="install", metadata={"tfkit": {"role": "demo"}}),  # it runs in no sandbox
    ]
