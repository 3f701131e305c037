"""What all routes of the server extension share."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler

from tfkit_course.small_file import parse_json
from tfkit_lab import course

HUB = "JUPYTERHUB_USER" in os.environ  # one of many servers on a machine, each with one user


class BaseHandler(APIHandler):
    """A route: the folder that it serves, and how it answers."""

    @property
    def root(self) -> Path:
        """The folder whose notebooks this server shows."""
        return Path(self.settings["server_root_dir"]).expanduser()

    def folder_of(self, path: str) -> Path | None:
        """The folder of the notebook at `path` below the root; None if it does not exist or is not below it."""
        root = self.root.resolve()
        try:
            folder = (root / path).resolve().parent
        except (OSError, ValueError):  # not a valid file name
            return None
        return folder if path and folder.is_relative_to(root) and folder.is_dir() else None

    @property
    def shows_names(self) -> bool:
        """Whether the request asks for students' names."""
        return bool(self.get_query_argument("names", "") == "1")

    @property
    def language(self) -> str:
        """The language of the lab in `?language=fr_FR`, as a unit's catalogue is named: fr."""
        return str(self.get_query_argument("language", "en")).replace("-", "_").partition("_")[0]

    def body(self) -> Any:
        """The value of the request's JSON body. Raises ValueError if it holds none, or one out of all proportion."""
        return parse_json(self.request.body.decode("utf-8"))

    def respond(self, status: int, message: str) -> None:
        """Ends the request; the body is JSON, `{"message": …}`."""
        self.set_status(status)
        self.finish(json.dumps({"message": message}))

    def record(self, verdict: dict[str, Any]) -> None:
        """Store the outcome for the course panel; a folder that cannot be written is reported in the log."""
        try:
            course.record(self.root, verdict)
        except OSError as error:  # a read-only folder must not hide the verdict
            self.log.warning("tfkit_lab: the result could not be stored: %s", error)
