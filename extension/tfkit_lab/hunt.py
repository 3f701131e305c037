"""The route of the hunt button: it writes the notebook of a student's next bug hunt."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tornado import web

from autograder.exercises.registry import TwoExercises, UnknownExercise
from autograder.feedback.translate import override_language
from autograder.hunts import practice
from autograder.hunts.make import UnknownHunt
from tfkit_lab.base_handler import BaseHandler

FOLDER = "hunts"  # below the server's folder


class HuntHandler(BaseHandler):
    """POST ?language=…: `{"hunt": "masks.causal"}`, an exercise or a page, or `{"unit": "02-masks"}`."""

    @web.authenticated
    async def post(self) -> None:
        """Write the notebook: 200 with its path; 400 for an unknown exercise or unit, 500 if it cannot be written."""
        try:
            body = self.body()
            asked, unit = body.get("hunt"), body.get("unit")
            if not isinstance(asked or unit, str):
                raise TypeError
        except (ValueError, TypeError, AttributeError):
            return self.respond(400, "the body must be an object with `hunt` or `unit`")
        try:
            path = await asyncio.to_thread(self._write, asked, unit)
        except (UnknownHunt, UnknownExercise, TwoExercises) as error:
            return self.respond(400, str(error))
        except OSError as error:
            return self.respond(500, f"the notebook of the hunt could not be written: {error}")
        self.finish(json.dumps({"path": path.relative_to(self.root).as_posix()}))

    def _write(self, asked: str | None, unit: str) -> Path:
        with override_language(self.language):
            return practice.write_next(self.root / FOLDER, [asked] if asked else practice.subjects_of(unit))
