"""Addresses that open a unit's notebook in one click: on a Hub, in a tab, from a learning management system."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from autograder.settings import course_file
from autograder.settings.course_file import REPOSITORY

ADDRESS = re.compile(r"https?://[\w.-]+(:\d+)?(/[\w./~%+-]*)?")
PULL = "git-pull"  # nbgitpuller's page, on each user's server
# what an LTI launch may go on to, below the Hub's user-redirect
OPENED_BY_LAUNCH = re.compile(rf"{PULL}\?[\w.~%&=+-]+", re.ASCII)


class LinkError(Exception):
    """There is no such link; the message says what is missing, in a line."""


@dataclass(frozen=True)
class NotebookLinks:
    """The links of one notebook of a course, whose released notebooks are in a repository (`[repository]`)."""

    course: Path
    notebook: str

    def pull_query(self) -> str:
        """nbgitpuller's page with its arguments: it fetches the repository and opens the notebook. Raises LinkError."""
        table = course_file.read(self.course / course_file.FILE).get(REPOSITORY.name)
        if not table:
            raise LinkError(f"{self.course / course_file.FILE} has no [repository]: nbgitpuller fetches the released "
                            "notebooks from there (docs/settings.md)")  # fmt: skip
        url, branch = table["url"], table.get("branch", REPOSITORY.defaults["branch"])
        folder = url.rpartition("/")[2]
        path = f"lab/tree/{folder}/release/{self.notebook}/{self.notebook}.ipynb"
        return f"{PULL}?{urlencode({'repo': url, 'branch': branch, 'urlpath': path})}"

    def hub(self, hub: str) -> str:
        """The link for a Hub at this address: it logs in, starts the server, fetches and opens. Raises LinkError."""
        return f"{_address(hub, '--hub')}/hub/user-redirect/{self.pull_query()}"

    def tab(self, site: str) -> str:
        """The link to the notebook on the site of `course.build --lite`. Raises LinkError."""
        return f"{_address(site, '--tab')}/lab/index.html?path={quote(f'{self.notebook}.ipynb')}"

    def lti(self, hub: str) -> dict[str, Any]:
        """The content item of LTI 1.3 (deep linking 2.0) for the Hub's launch. Raises LinkError."""
        custom = {"assignment": self.notebook, "next": self.pull_query()}
        launch = f"{_address(hub, '--lti')}/hub/lti/launch"
        window = {"targetName": "_blank"}
        return {"type": "ltiResourceLink", "title": self.notebook, "url": launch, "custom": custom, "window": window}


def links(course: Path, notebook: str) -> NotebookLinks:
    """The links of a notebook that was released. Raises LinkError for one that was not."""
    if not (course / "release" / notebook / f"{notebook}.ipynb").is_file():
        there = ", ".join(sorted(path.parent.name for path in course.glob("release/*/*.ipynb"))) or "none"
        raise LinkError(
            f"{course} has not released {notebook!r} (released: {there}): run `nbgrader generate_assignment`"
        )
    return NotebookLinks(course, notebook)


def lti_text(item: dict[str, Any]) -> str:
    """What an instructor types where the LMS has no deep linking, and the item itself as JSON."""
    custom = "\n".join(f"  {name}={value}" for name, value in item["custom"].items())
    return f"launch URL: {item['url']}\ncustom parameters:\n{custom}\n{json.dumps(item, indent=1)}"


def launch_target(target: object) -> str:
    """Where a launch leads below the Hub's `user-redirect`: to nbgitpuller's page if it says so, else to the lab.

    The platform signs it; all the same nothing else is followed, neither another address nor another page.
    """
    return target if isinstance(target, str) and OPENED_BY_LAUNCH.fullmatch(target) else "lab"


def _address(text: str, option: str) -> str:
    if not ADDRESS.fullmatch(text):
        raise LinkError(f"{option} {text} is not an address such as https://hub.example.edu")
    return text.rstrip("/")
