"""The service's web pages in the Hub: a status page and JSON for authorised users, and a health probe."""

from __future__ import annotations

import asyncio
import html
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jupyterhub.services.auth import HubOAuthCallbackHandler, HubOAuthenticated
from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler, authenticated

from autograder.report.page import document

Status = Callable[[], dict[str, Any]]
COLUMNS = ("Assignment", "Waiting", "Graded", "Returned", "Failed")
STYLE = """
h2{margin-top:var(--tfk-s5)}li{margin:.2rem 0}
.wrong{color:var(--tfk-wrong);font-weight:600;border-left:4px solid;padding-left:var(--tfk-s3)}
"""
SCRIPT = Path(__file__).with_name("status.js")  # reads the page again


class HealthHandler(RequestHandler):
    """`health`: 200 while the service works, 503 when its last pass ended in an error."""

    def initialize(self, status: Status) -> None:
        """Set the function that returns the status (called by Tornado)."""
        self.status = status

    def get(self) -> None:
        """Answer 200 while the service works, and 503 after a failed pass."""
        sound = not self.status()["error"]
        self.set_status(200 if sound else 503)
        self.finish("ok\n" if sound else "error\n")


class StatusHandler(HubOAuthenticated, RequestHandler):
    """The status page, or its numbers with `?json`. It needs the Hub's scope access:services!service=NAME."""

    def initialize(self, status: Status) -> None:
        """Set the function that returns the status (called by Tornado)."""
        self.status = status

    @authenticated
    def get(self) -> None:
        """Counts since the service started."""
        found = self.status()
        if self.get_argument("json", None) is not None:
            self.set_header("Content-Type", "application/json")
            self.finish(json.dumps(found))
        else:
            self.finish(page(found))


def page(found: dict[str, Any]) -> str:
    """The page of a status: {"error": text, "courses": {course: {assignment: ServiceCounts as a dict}}}."""
    error = f'<p class="wrong" role="alert">Grading has stopped: {html.escape(found["error"])}</p>'
    parts = ["<p>Submissions since the service started. This page updates itself every 30 seconds.</p>"]
    parts += [error] if found["error"] else []
    parts += [_course(name, assignments) for name, assignments in found["courses"].items()]
    if not any(found["courses"].values()):
        parts.append("<p>Nothing has been submitted yet.</p>")
    whole = document("Grading on submission", "".join(parts), STYLE)
    return whole.replace("</body>", f"<script>{SCRIPT.read_text(encoding='utf-8')}</script></body>", 1)


def _course(name: str, assignments: dict[str, Any]) -> str:
    rows, failures = [], []
    for assignment, one in assignments.items():
        counts = (one["waiting"], one["graded"], one["returned"], len(one["failures"]))
        cells = "".join(f"<td>{count}" for count in counts)
        rows.append(f'<tr><th scope="row">{html.escape(assignment)}{cells}</tr>')
        reasons = {html.escape(who): html.escape(why) for who, why in one["failures"].items()}
        failures += [f"{html.escape(assignment)}, <b>{who}</b>: {why}" for who, why in reasons.items()]
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{column}' for column in COLUMNS)
    listed = "".join(f"<li>{one}" for one in failures)
    failed = f"<h3>Could not be graded</h3><ul>{listed}</ul>" if listed else ""
    box = f'<div class="scroll" role="group" aria-label="{html.escape(name)}" tabindex="0">'  # keys must scroll it too
    table = f"{box}<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    return f"<h2>{html.escape(name)}</h2>{table}{failed}\n"


def application(status: Status, prefix: str, secret: bytes) -> Application:
    """The service's web application below `prefix`."""
    given = {"status": status}
    handlers: list[Any] = [
        (f"{prefix}health", HealthHandler, given),
        (f"{prefix}oauth_callback", HubOAuthCallbackHandler),
        (prefix, StatusHandler, given),
    ]
    return Application(handlers, cookie_secret=secret)


def start(status: Status) -> None:
    """Serve at $JUPYTERHUB_SERVICE_URL in a daemon thread. Raises OSError if the address cannot be used."""
    where = urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"])
    web = application(status, os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/"), os.urandom(32))
    bound, failed = threading.Event(), list[OSError]()

    async def serve() -> None:
        """Listen until the process ends; an error of the address is kept for the caller."""
        try:
            HTTPServer(web).listen(where.port or 80, where.hostname or "127.0.0.1")
        except OSError as error:
            failed.append(error)
            return
        finally:
            bound.set()
        await asyncio.Event().wait()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True, name="status").start()
    bound.wait()
    if failed:
        raise failed[0]
