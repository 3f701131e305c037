"""The service's web pages in the Hub: a status page, JSON and metrics for authorised users, and a health probe."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from jupyterhub.services.auth import HubOAuthCallbackHandler, HubOAuthenticated
from tornado.web import Application, authenticated

from autograder.feedback.page import document
from autograder.serve.probes import CONTENT_TYPE_LATEST, HealthHandler, Status, StatusRequestHandler, metrics

COLUMNS = ("Assignment", "Waiting", "Graded", "Returned", "Failed")
STYLE = """
h2{margin-top:var(--tfk-s5)}li{margin:.2rem 0}
.wrong{color:var(--tfk-wrong);font-weight:600;border-left:4px solid;padding-left:var(--tfk-s3)}
"""
SCRIPT = Path(__file__).with_name("status.js")  # reads the page again


class StatusHandler(HubOAuthenticated, StatusRequestHandler):
    """The status page, or its numbers with `?json`. It needs the Hub's scope access:services!service=NAME."""

    @authenticated
    def get(self) -> None:
        """Counts since the service started."""
        found = self.status()
        if self.get_argument("json", None) is not None:
            self.set_header("Content-Type", "application/json")
            self.finish(json.dumps(found))
        else:
            self.finish(page(found))


class HubMetricsHandler(HubOAuthenticated, StatusRequestHandler):
    """`metrics` for those who may see the page: Prometheus sends a token of the Hub's (`authorization` in its file)."""

    @authenticated
    def get(self) -> None:
        """The numbers in Prometheus' text format."""
        self.set_header("Content-Type", CONTENT_TYPE_LATEST)
        self.finish(metrics(self.status()))


def page(found: dict[str, Any]) -> str:
    """The page of a status: {"error": text, "starting": bool, "waiting": {course: reason}, "courses": {course:
    {assignment: ServiceCounts as a dict}}}."""
    error = f'<p class="wrong" role="alert">Grading has stopped: {html.escape(found["error"])}</p>'
    parts = ["<p>Submissions since the service started. This page updates itself every 30 seconds.</p>"]
    parts += [error] if found["error"] else []
    parts += ["<p>The service is starting.</p>"] if found["starting"] else []
    parts += [f"<p>Waiting for a course: {html.escape(reason)}</p>" for reason in found["waiting"].values()]
    parts += [_course(name, assignments) for name, assignments in found["courses"].items()]
    if found["courses"] and not any(found["courses"].values()):
        parts.append("<p>Nothing has been submitted yet.</p>")
    whole = document("Grading on submission", "".join(parts), STYLE)
    return whole.replace("</body>", f"<script>{SCRIPT.read_text(encoding='utf-8')}</script></body>", 1)


def _course(name: str, assignments: dict[str, Any]) -> str:
    rows, failures, differences = [], [], []
    for assignment, one in assignments.items():
        counts = (one["waiting"], one["graded"], one["returned"], len(one["failures"]))
        cells = "".join(f"<td>{count}" for count in counts)
        rows.append(f'<tr><th scope="row">{html.escape(assignment)}{cells}</tr>')
        reasons = {html.escape(who): html.escape(why) for who, why in one["failures"].items()}
        failures += [f"{html.escape(assignment)}, <b>{who}</b>: {why}" for who, why in reasons.items()]
        differences += [html.escape(difference) for difference in one["differences"]]
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{column}' for column in COLUMNS)
    lists = _list("Could not be graded", failures) + _list("Other verdicts when graded again", differences)
    box = f'<div class="scroll" role="group" aria-label="{html.escape(name)}" tabindex="0">'  # keys must scroll it too
    table = f"{box}<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    return f"<h2>{html.escape(name)}</h2>{table}{lists}\n"


def _list(title: str, items: list[str]) -> str:
    listed = "".join(f"<li>{item}" for item in items)
    return f"<h3>{title}</h3><ul>{listed}</ul>" if listed else ""


def application(status: Status, prefix: str, secret: bytes) -> Application:
    """The service's web application below `prefix`."""
    given = {"status": status}
    handlers: list[Any] = [
        (f"{prefix}health", HealthHandler, given),
        (f"{prefix}metrics", HubMetricsHandler, given),
        (f"{prefix}oauth_callback", HubOAuthCallbackHandler),
        (prefix, StatusHandler, given),
    ]
    return Application(handlers, cookie_secret=secret)
