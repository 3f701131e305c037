"""The distribution: its name, the command that installs its extras, and a test for other projects with our names.

Import names and the name on PyPI differ: `tfkit` and `autograder` belong to other projects on PyPI.
"""

from __future__ import annotations

import codecs
import io
import json
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

NAME = "tfkit-course"
PACKAGES = ("tfkit", "autograder", "course", "tfkit_lab")
PLAIN = {"✓": "+", "✗": "x", "→": "->", "←": "<-", "≤": "<=", "≥": ">=", "−": "-", "√": "sqrt "}


def install(*extras: str) -> str:
    """The command that installs these extras from the origin of this copy: a checkout, a wheel or a repository."""
    wanted = f"[{','.join(extras)}]" if extras else ""
    came_from = origin()
    url = str(came_from.get("url", ""))
    if "dir_info" in came_from:
        editable = "-e " if came_from["dir_info"].get("editable") else ""
        return f"pip install {editable}'{url2pathname(urlsplit(url).path)}{wanted}'"
    if "vcs_info" in came_from:
        version = came_from["vcs_info"]
        return f"pip install '{NAME}{wanted} @ {version['vcs']}+{url}@{version['commit_id']}'"
    return f"pip install '{NAME}{wanted}{f' @ {url}' if url else ''}'"


def refuse_strangers() -> None:
    """Raise ImportError if another distribution installed a package under one of our names in this environment."""
    for name in PACKAGES:
        for found in metadata.distributions(name=name):
            if any(str(file) == f"{name}/__init__.py" for file in found.files or ()):
                raise ImportError(
                    f"{found.name} {found.version}, another project's package, is installed here under the same import "
                    f"name as {NAME}'s, and the two overwrite each other's files: `pip uninstall {found.name} {NAME}`, "
                    f"then install {NAME} again"
                )


def replace_unencodable() -> None:
    """Print plain signs for what standard output cannot encode, as a pipe's on Windows, instead of raising."""
    if isinstance(sys.stdout, io.TextIOWrapper) and "utf" not in sys.stdout.encoding.lower():
        codecs.register_error(NAME, _plain_signs)
        sys.stdout.reconfigure(errors=NAME)


def _plain_signs(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(PLAIN.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


def origin() -> dict:
    """PEP 610's direct_url.json; empty if pip took the package from an index. A checkout that is not installed is
    described as one that is."""
    try:
        return json.loads(metadata.distribution(NAME).read_text("direct_url.json") or "{}")
    except metadata.PackageNotFoundError:
        checkout = Path(__file__).resolve().parents[1]
        there = (checkout / "pyproject.toml").is_file()
        return {"url": checkout.as_uri(), "dir_info": {"editable": True}} if there else {}


from tfkit_course.launch import main as main  # noqa: E402 (this name is in the `tfkit` scripts of earlier installations)
