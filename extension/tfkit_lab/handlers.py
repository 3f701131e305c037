"""Routes of the server extension. Authenticated, asynchronous, and light: no torch in the server's process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from pathlib import Path
from threading import Thread
from typing import Any

from jupyter_server.utils import url_path_join
from tornado import web

from autograder.checking.client import CheckFailed
from tfkit_lab import (
    calibration,
    class_routes,
    classes,
    course,
    family,
    lesson,
    live,
    mistakes,
    model_table,
    sealed,
    wording,
)
from tfkit_lab.base_handler import HUB, BaseHandler
from tfkit_lab.check import BadRequest, check, parse, parse_outcome, prepare, prepare_blocking
from tfkit_lab.hunt import HuntHandler
from tfkit_lab.marking import HANDLERS
from tfkit_lab.page import STATIC, page
from tfkit_lab.recall import home
from tfkit_lab.regrade import RegradeHandler
from tfkit_lab.trace import SCHEMAS

MAX_RUNNING = 1 if HUB else max(1, (os.cpu_count() or 2) // 2)
MAX_WAITING = 2 if HUB else 8
MAX_OF_ONE = 4  # checks that one user of a shared server may have running or waiting


class Queue:
    """Limits the number of concurrent checks; the others wait."""

    def __init__(self) -> None:
        self.pending = 0
        self._of: Counter[str] = Counter()
        self._free = asyncio.Semaphore(MAX_RUNNING)

    def refusal(self, user: str) -> str:
        """The reason why another check is not accepted yet; "" if it is accepted."""
        if self.pending >= MAX_RUNNING + MAX_WAITING:
            return f"{self.pending} checks are running or waiting already: try again in a moment"
        if self._of[user] >= MAX_OF_ONE:
            return f"{self._of[user]} checks of yours are running or waiting already: try again in a moment"
        return ""

    async def check(
        self, user: str, exercise: str, cells: list[dict[str, Any]], folder: Path | None = None
    ) -> dict[str, Any]:
        """The verdict's JSON, after waiting for a free slot. Raises CheckFailed as `check` does."""
        self.pending += 1
        self._of[user] += 1
        try:
            async with self._free:
                return await check(exercise, cells, folder)
        finally:
            self.pending -= 1
            self._of -= Counter({user: 1})  # drops users without checks


class CourseHandler(BaseHandler):
    """GET: the units, their exercises and the state of each; of a project the leaderboard, if there is one."""

    @web.authenticated
    async def get(self) -> None:
        """The course: 200 with its units and their exercises, the table of the student's own model, and what
        is due of the questions on earlier units."""
        units = await asyncio.to_thread(course.units, self.root)
        units = await asyncio.to_thread(classes.with_leaderboards, self.root, units)
        model = await asyncio.to_thread(model_table.for_home_page, self.root, units)
        recall = await asyncio.to_thread(home.for_home_page, self.root, units)
        self.finish(json.dumps({"units": units, "model": model, "recall": recall}))
        if units and not HUB:  # a lab with a course: prepare for the first check, so that it does not wait for imports
            await prepare()


class CheckHandler(BaseHandler):
    """POST: check one exercise of the cells sent. A browser that disconnects cancels its check."""

    _task: asyncio.Task[dict[str, Any]] | None = None

    @web.authenticated
    async def post(self) -> None:
        """Check the body's cells: 200 with the verdict; 400 for an invalid body, 429 if too many checks are waiting."""
        try:
            exercise, cells, path = parse(self.request.body)
        except BadRequest as error:
            return self.respond(400, str(error))
        queue: Queue = self.settings["tfkit_checks"]
        user = str(getattr(self.current_user, "username", self.current_user))
        if refused := queue.refusal(user):
            return self.respond(429, refused)
        self._task = asyncio.create_task(queue.check(user, exercise, cells, self.folder_of(path)))
        await self._answer(self._task, cells)

    async def _answer(self, task: asyncio.Task[dict[str, Any]], cells: list[dict[str, Any]]) -> None:
        try:
            verdict = await task
        except asyncio.CancelledError:
            self.log.info("tfkit_lab: a check was cancelled")
            return
        except CheckFailed as error:
            return self.respond(500, str(error))
        await asyncio.to_thread(self.record, verdict)
        await asyncio.to_thread(self._keep_mistake, verdict, cells)
        self.finish(json.dumps(verdict))

    def _keep_mistake(self, verdict: dict[str, Any], cells: list[dict[str, Any]]) -> None:
        try:
            mistakes.keep(self.root, verdict, cells)
        except OSError as error:  # it is not needed for the verdict
            self.log.warning("tfkit_lab: the first mistake could not be stored: %s", error)

    def on_connection_close(self) -> None:
        """Cancel the check: its verdict is no longer needed."""
        if self._task is not None:
            self._task.cancel()
        super().on_connection_close()


class ProgressHandler(BaseHandler):
    """POST: the outcome of `check("…")` in the kernel, which does not know where this server stores progress."""

    @web.authenticated
    async def post(self) -> None:
        """Store the outcome in the body: 200 with its exercise; 400 for an invalid body. It never counts as a mark."""
        try:
            outcome = parse_outcome(self.request.body)
        except BadRequest as error:
            return self.respond(400, str(error))
        await asyncio.to_thread(self.record, outcome)
        self.finish(json.dumps({"exercise": outcome["exercise"]}))


class PageHandler(BaseHandler):
    """POST: a view as a standalone page, which works offline: `{"title": …, "state": {"trace": …}}`, and perhaps the
    `"language"` of its words."""

    @web.authenticated
    async def post(self) -> None:
        """The page: 200 with its HTML as JSON; 400 if the state does not belong to a view."""
        try:
            body = self.body()
            title, state = str(body["title"]), dict(body["state"])
            kind = str(state["trace"]["kind"])
        except (ValueError, KeyError, TypeError) as error:
            return self.respond(400, f"not a valid view: {type(error).__name__}: {error}")
        if not kind.isidentifier() or not (SCHEMAS / f"{kind}.json").is_file():
            return self.respond(
                400, f"the server has no script for a view of kind {kind!r}: use its to_html() in a cell"
            )
        language = str(body.get("language", "en"))
        self.finish(json.dumps({"html": page(title, [state], {kind: STATIC / f"{kind}.js"}, language=language)}))


class ClassHandler(BaseHandler):
    """GET: the results of each student in every assignment graded under this server's folder, and when units are due;
    and the interpreter that has the autograder, for terminals, whose PATH may differ."""

    @web.authenticated
    async def get(self) -> None:
        """The class: 200 with every assignment, the due dates, and the Python that grades."""
        found = await asyncio.to_thread(classes.classes, self.root, self.language)
        due = await asyncio.to_thread(classes.timetable, self.root)
        self.finish(json.dumps({"assignments": found, "due": due, "python": sys.executable}))


class PredictionsHandler(BaseHandler):
    """GET: the predictions of a class, from the shared folder and from submissions under this server's folder. Students
    are numbered in the order of their first answers, and named only with `?names=1`."""

    @web.authenticated
    async def get(self) -> None:
        """The predictions: 200 with each one's questions, its result, and the answers with their students and times."""
        found = await asyncio.to_thread(sealed.of_class, self.root, os.environ.get(sealed.FOLDER))
        calibration.add_to_class(found)
        if not self.shows_names:
            sealed.hide_names(found)
        self.finish(json.dumps({"predictions": found}))


class LessonHandler(BaseHandler):
    """GET ?path=…: the predictions of a notebook, and the set-up cells that the course vouches for. POST: seal one,
    `{"path": …, "name": …, "answers": […]}`, with `"sure"` where that is asked; null for the answers skips it."""

    @web.authenticated
    async def get(self) -> None:
        """The lesson: 200; 400 if there is no course notebook at the path."""
        path = self.get_query_argument("path", "")
        folder = self.folder_of(path)
        try:
            if folder is None:
                raise lesson.NoLesson(f"there is no notebook at {path!r}")
            self.finish(json.dumps(await asyncio.to_thread(lesson.read_lesson, folder / Path(path).name)))
        except lesson.NoLesson as error:
            self.respond(400, str(error))

    @web.authenticated
    async def post(self) -> None:
        """Seal a prediction: 200 with its card; 400 if the answers do not fit, or it is sealed already."""
        try:
            body = self.body()
            path, name, answers = str(body["path"]), str(body["name"]), body["answers"]
            if (folder := self.folder_of(path)) is None:
                raise lesson.NoLesson(f"there is no notebook at {path!r}")
            card = await asyncio.to_thread(lesson.seal, folder / Path(path).name, name, answers, body.get("sure"))
            self.finish(json.dumps({"card": card}))
        except (ValueError, KeyError, TypeError) as error:  # NoLesson is a ValueError
            self.respond(400, str(error))
        except OSError as error:
            self.respond(500, f"the prediction could not be stored: {error}")


class LiveHandler(BaseHandler):
    """GET: how many of a class have passed, tried and are stuck in each exercise, from the shared folder;
    `?checks=3&minutes=10` defines "stuck"; students are named only with `?names=1`."""

    @web.authenticated
    async def get(self) -> None:
        """The exercises: 200, most stuck students first; 400 if `checks` or `minutes` is not a number."""
        try:
            checks = int(self.get_query_argument("checks", str(live.CHECKS)))
            minutes = float(self.get_query_argument("minutes", str(live.MINUTES)))
        except ValueError:
            return self.respond(400, "checks and minutes must be numbers")
        shared = os.environ.get(sealed.FOLDER)
        found = await asyncio.to_thread(live.of_class, shared, names=self.shows_names, checks=checks, minutes=minutes)
        found["exercises"] = await asyncio.to_thread(self._in_words, found["exercises"])
        self.finish(json.dumps({**found, "shared": bool(shared)}))

    def _in_words(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        titles = wording.titles((row["exercise"] for row in rows), self.language)
        return [
            {**row, "title": titles.get(row["exercise"], row["exercise"]),
             "commonest": wording.with_sentences(row["exercise"], row["commonest"], self.language)}
            for row in rows
        ]  # fmt: skip


class LeaderboardHandler(BaseHandler):
    """GET: the capstone's leaderboards of the course folders under this server's folder, with no names but those that
    students chose for it."""

    @web.authenticated
    async def get(self) -> None:
        """The leaderboards: 200 with one for each course and assignment that was measured."""
        self.finish(json.dumps({"leaderboards": await asyncio.to_thread(classes.leaderboards, self.root)}))


class FamilyHandler(BaseHandler):
    """GET: the architectures, their parents and their differences."""

    @web.authenticated
    async def get(self) -> None:
        """200 with every architecture, its parent and its differences."""
        self.finish(json.dumps({"models": await asyncio.to_thread(family.models)}))


class AnatomyHandler(BaseHandler):
    """GET /anatomy/bert or /anatomy/bert/roberta: the recorded anatomy of one architecture or two."""

    @web.authenticated
    async def get(self, names: str) -> None:
        """The modules of one model or two: 200; 400 for an unknown name, 500 if it takes too long."""
        try:
            async with self.settings["tfkit_building"]:
                self.finish(json.dumps(await family.anatomy(names.split("/"))))
        except family.UnknownArchitecture as error:
            self.respond(400, str(error))
        except TimeoutError:
            self.respond(500, f"{names} was not built within {family.SECONDS:.0f} s")


def prepare_at_startup(root: Path) -> None:
    """Begins to load what the first check needs, in a thread, while the server still starts: if it shows a course."""

    def prepare_if_course() -> None:
        if course.has_course(root):
            prepare_blocking()

    if not HUB:  # there, each user's processes would take memory before anybody has opened a course
        Thread(target=prepare_if_course, daemon=True).start()


def add_routes(web_app: Any) -> None:
    """Add the routes under the server's base URL."""
    base = web_app.settings["base_url"]
    web_app.settings.setdefault("tfkit_checks", Queue())
    web_app.settings.setdefault("tfkit_building", asyncio.Semaphore(1))
    handlers = {"course": CourseHandler, "check": CheckHandler, "class": ClassHandler, "family": FamilyHandler}
    handlers |= {"progress": ProgressHandler, "predictions": PredictionsHandler, "page": PageHandler}
    handlers |= {"leaderboard": LeaderboardHandler, "live": LiveHandler, "lesson": LessonHandler}
    handlers |= {**HANDLERS, **class_routes.HANDLERS, "regrade": RegradeHandler, "hunt": HuntHandler}
    handlers["anatomy/([a-z0-9_]+(?:/[a-z0-9_]+)?)"] = AnatomyHandler
    web_app.add_handlers(".*$", [(url_path_join(base, "tfkit", name), handler) for name, handler in handlers.items()])
