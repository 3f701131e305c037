"""Routes of the marking page. The gradebook is read and written in a separate process, where nbgrader is loaded
once: it changes the working directory, which the server must not do."""

from __future__ import annotations

import asyncio
import getpass
import json
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tornado import web

from autograder.marking.store import BadMark, MarkedCell
from tfkit_lab.base_handler import HUB, BaseHandler
from tfkit_lab.folders import course_folders

MAX_TEXT = 10_000  # characters of a comment
MAX_NAME = 200  # characters of a marker's name


def call(name: str, *args: Any) -> Any:
    """Run the function `name` of `autograder.marking` or of the class report, in the process of its own -> its result,
    or {"error": …}."""
    from autograder.cluster.course import BadCourse
    from autograder.marking import desk, regrades, sharing
    from autograder.report import service

    module = next(one for one in (desk, regrades, sharing, service) if hasattr(one, name))
    args = tuple(MarkedCell(*arg["question"]) if isinstance(arg, dict) and "question" in arg else arg for arg in args)
    try:
        return {"found": getattr(module, name)(*args)}
    except (BadMark, BadCourse) as error:
        return {"error": str(error)}


class GradebookHandler(BaseHandler):
    """A route that asks the process with the gradebook."""

    @property
    def author(self) -> str:
        """The name of the marker: the Hub's user, or the system account, since a server with only a token has no user
        names."""
        return str(getattr(self.current_user, "username", "")) if HUB else getpass.getuser()

    def course(self, path: Any) -> Path:
        """The course folder at `path` below the root. Raises ValueError if it is not one."""
        found = {folder.relative_to(self.root).as_posix(): folder for folder in course_folders(self.root)}
        if path not in found:
            raise ValueError(f"there is no course at {path!r}")
        return found[path].resolve()

    async def ask(self, name: str, *args: Any) -> Any:
        """The result of the desk's function. Raises ValueError with its message if it refuses."""
        if "tfkit_desk" not in self.settings:
            self.settings["tfkit_desk"] = ProcessPoolExecutor(1, get_context("spawn"))
        loop = asyncio.get_running_loop()
        try:
            reply = await loop.run_in_executor(self.settings["tfkit_desk"], call, name, *args)
        except BrokenProcessPool:
            self.settings.pop("tfkit_desk")  # the next request starts a new process
            raise ValueError("the process that reads the gradebook stopped: try again") from None
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply["found"]

    async def answer(self, make: Callable[[dict[str, Any]], Any]) -> None:
        """Answers a POST with the result of `make` for its JSON body: 200, or 400 with a message if it refuses."""
        try:
            found = await make(self.body())
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what = str(error) if type(error) is ValueError else f"invalid request: {type(error).__name__}"
            return self.respond(400, what)
        self.finish(json.dumps(found))


def question_of(body: dict[str, Any]) -> dict[str, Any]:
    """The question named in the body, in the form for `call`.

    Raises KeyError or ValueError if it is incomplete or invalid.
    """
    names = [body[key] for key in ("assignment", "notebook", "cell")]
    if not all(isinstance(name, str) and name and "/" not in name and name not in (".", "..") for name in names):
        raise ValueError("the assignment has no such question")
    return {"question": names}


def score_of(value: Any) -> float:
    """The points in a body. Raises ValueError if it is not a finite number."""
    score = float(value)
    if not math.isfinite(score):
        raise ValueError("the mark must be a number")
    return score


class MarkingHandler(GradebookHandler):
    """GET: the questions of every course folder. POST: one question with its answers in groups."""

    @web.authenticated
    async def get(self) -> None:
        """The questions: 200; a course that cannot be read is listed with an `error`."""
        courses = []
        for folder in await asyncio.to_thread(lambda: list(course_folders(self.root))):
            name = folder.relative_to(self.root).as_posix()
            one: dict[str, Any] = {"course": name, "questions": [], "requests": 0}
            try:
                one["questions"] = await self.ask("overview", folder.resolve())
                one["requests"] = await self.ask("count_waiting", folder.resolve())
            except ValueError as error:
                one["error"] = str(error)
            courses.append(one)
        self.finish(json.dumps({"courses": courses, "by": self.author}))

    @web.authenticated
    async def post(self) -> None:
        """The question in the body: 200, or 400."""
        await self.answer(lambda body: self.ask("question", self.course(body["course"]), question_of(body)))


class MarkHandler(GradebookHandler):
    """POST: one mark for some students."""

    @web.authenticated
    async def post(self) -> None:
        """Store the mark: 200 with the students who got it and those whom somebody else has marked meanwhile; 400 if
        refused."""
        await self.answer(self._give)

    async def _give(self, body: dict[str, Any]) -> Any:
        score = None if body["score"] is None else score_of(body["score"])
        versions = {str(student): int(version) for student, version in body["seen"].items()}
        chosen = [int(number) for number in body["chosen"]]
        own = str(body["own"])[:MAX_TEXT]
        of = question_of(body)
        return await self.ask("set_marks", self.course(body["course"]), of, versions, score, own, chosen, self.author)


class RubricHandler(GradebookHandler):
    """POST: adds an item to a question's rubric, changes or drops one, or applies the rubric to all marks."""

    @web.authenticated
    async def post(self) -> None:
        """Change the rubric: 200 with what became of the marks, or 400."""
        await self.answer(self._change)

    async def _change(self, body: dict[str, Any]) -> Any:
        root, of = self.course(body["course"]), question_of(body)
        if "drop" in body:
            await self.ask("remove_item", root, of, int(body["drop"]), self.author)
            return {}
        if body.get("apply"):
            return await self.ask("apply_rubric", root, of, self.author)
        points = None if body.get("points") is None else float(body["points"])
        text = str(body["text"])
        if "change" in body:
            return await self.ask("change_item", root, of, int(body["change"]), text, points, self.author)
        return {"id": await self.ask("add_item", root, of, text, points, self.author)}


class HistoryHandler(GradebookHandler):
    """POST: all that was done to a question's marks and rubric."""

    @web.authenticated
    async def post(self) -> None:
        """The history, the latest first: 200, or 400."""
        await self.answer(self._history)

    async def _history(self, body: dict[str, Any]) -> Any:
        return {"history": await self.ask("history", self.course(body["course"]), question_of(body))}


class RequestsHandler(GradebookHandler):
    """POST: the regrade requests of a course; with a request's number, answers it."""

    @web.authenticated
    async def post(self) -> None:
        """The requests, or what the answer did: 200, or 400."""
        await self.answer(self._answer)

    async def _answer(self, body: dict[str, Any]) -> Any:
        root = self.course(body["course"])
        if "request" not in body:
            return {"requests": await self.ask("list_requests", root)}
        number, version, sentence = int(body["request"]), int(body["version"]), str(body["sentence"])[:MAX_TEXT]
        if not body["accept"]:
            return await self.ask("decline", root, number, version, sentence, self.author)
        chosen = [int(one) for one in body["chosen"]]
        return await self.ask("accept", root, number, version, score_of(body["score"]), sentence, chosen, self.author)


class SharesHandler(GradebookHandler):
    """POST: divides the unmarked answers of an assignment among markers."""

    @web.authenticated
    async def post(self) -> None:
        """Who marks how many of each question: 200, or 400."""
        await self.answer(self._share)

    async def _share(self, body: dict[str, Any]) -> Any:
        markers = [str(name)[:MAX_NAME] for name in body["markers"]]
        where = self.course(body["course"]), str(body["assignment"])
        return {"markers": await self.ask("share", *where, markers, str(body["how"]), self.author)}


class ExtensionsHandler(GradebookHandler):
    """POST: the extensions of an assignment; with a student and hours, gives one first."""

    @web.authenticated
    async def post(self) -> None:
        """The hours of each student: 200, or 400."""
        await self.answer(self._extend)

    async def _extend(self, body: dict[str, Any]) -> Any:
        root, assignment = self.course(body["course"]), str(body["assignment"])
        if "student" in body:
            await self.ask("extend", root, assignment, str(body["student"]), float(body["hours"]))
        return {"students": await self.ask("extensions", root, assignment)}


HANDLERS = {
    "marking": MarkingHandler,
    "marking/mark": MarkHandler,
    "marking/rubric": RubricHandler,
    "marking/history": HistoryHandler,
    "marking/requests": RequestsHandler,
    "marking/shares": SharesHandler,
    "marking/extensions": ExtensionsHandler,
}
