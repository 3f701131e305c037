"""Routes of the class page about one graded assignment: its item analysis, and the answer of a student."""

from __future__ import annotations

import asyncio
from typing import Any

from tornado import web

from tfkit_lab import classes, wording
from tfkit_lab.marking import GradebookHandler


def assignment_of(body: dict[str, Any]) -> str:
    """The assignment named in the body. Raises KeyError or ValueError if it is not the name of one."""
    name = body["assignment"]
    if not isinstance(name, str) or not name or "/" in name or name in (".", ".."):
        raise ValueError("the course has no such assignment")
    return name


class AnalysisHandler(GradebookHandler):
    """POST: the item analysis of an assignment; with `"files": true` the report and the table as files."""

    @web.authenticated
    async def post(self) -> None:
        """The checks with their numbers, or the files: 200, or 400."""
        await self.answer(self._analyse)

    async def _analyse(self, body: dict[str, Any]) -> Any:
        where = self.course(body["course"]), assignment_of(body)
        if body.get("files"):
            return await self.ask("class_files", *where)
        found = await self.ask("item_analysis", *where)
        checks = [{**one, "name": wording.in_language(one["name"], self.language)} for one in found["checks"]]
        return {**found, "checks": checks}


class AnswerHandler(GradebookHandler):
    """POST: a student's graded answer to an exercise: the card, the code, and the graded attempts at the assignment."""

    @web.authenticated
    async def post(self) -> None:
        """The answer: 200, or 400 if there is none."""
        await self.answer(self._find)

    async def _find(self, body: dict[str, Any]) -> Any:
        course, assignment, student = self.course(body["course"]), assignment_of(body), str(body["student"])
        where = str(body["course"]), assignment, student, str(body["exercise"])
        found = await asyncio.to_thread(classes.answer, self.root, *where)
        return {**found, "attempts": await self.ask("attempts_of", course, assignment, student)}


HANDLERS = {"class/analysis": AnalysisHandler, "class/answer": AnswerHandler}
