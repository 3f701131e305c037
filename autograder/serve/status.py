"""The service's web pages in the Hub: a status page and JSON for authorised users, and a health probe."""

from __future__ import annotations

import asyncio
import html
import json
import os
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from jupyterhub.services.auth import HubOAuthCallbackHandler, HubOAuthenticated
from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler, authenticated

Status = Callable[[], dict[str, Any]]
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Grading</title><style>
:root {{ color-scheme: light dark }} body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; width: 100% }} th, td {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8886 }}
td + td, th + th {{ text-align: right }}
</style><h1>Grading</h1>{state}<table><tr><th>course and assignment<th>waiting<th>graded<th>returned<th>failed</tr>{rows}</table>
{failures}"""  # noqa: E501


class HealthHandler(RequestHandler):
    """`health`: 200 while the service works, 503 when its last pass ended in an error."""

    def initialize(self, status: Status) -> None:
        """Tornado's constructor."""
        self.status = status

    def get(self) -> None:
        """One word."""
        sound = not self.status()["error"]
        self.set_status(200 if sound else 503)
        self.finish("ok\n" if sound else "error\n")


class StatusHandler(HubOAuthenticated, RequestHandler):
    """The status page, or its numbers with `?json`. It needs the Hub's scope access:services!service=NAME."""

    def initialize(self, status: Status) -> None:
        """Tornado's constructor."""
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
    rows, failures = [], []
    for course, assignments in found["courses"].items():
        for name, one in assignments.items():
            counts = (one["waiting"], one["graded"], one["returned"], len(one["failures"]))
            cells = "".join(f"<td>{count}" for count in counts)
            rows.append(f"<tr><td>{html.escape(course)} {html.escape(name)}{cells}</tr>")
            failures += [f"{name}: {student}: {why}" for student, why in one["failures"].items()]
    state = f"<p><b>{html.escape(found['error'])}</b></p>" if found["error"] else ""
    listed = "".join(f"<li>{html.escape(one)}" for one in failures)
    return PAGE.format(state=state, rows="".join(rows), failures=f"<ul>{listed}</ul>" if listed else "")


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
    """Serve at $JUPYTERHUB_SERVICE_URL in a daemon thread. Raises OSError."""
    where = urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"])
    web = application(status, os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/"), os.urandom(32))
    bound, failed = threading.Event(), list[OSError]()

    async def serve() -> None:
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
