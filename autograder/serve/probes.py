"""What programs ask a grading service: `health`, and `metrics` in the text format of Prometheus."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
    StateSetMetricFamily,
)
from prometheus_client.registry import Collector
from tornado.web import Application, RequestHandler

from autograder.serve.port import PortError, ServicePort
from tfkit_course import NAME

Status = Callable[[], dict[str, Any]]
STATES = ("error", "starting", "waiting", "ok")
LABELS = ("course", "assignment")


def state_of(found: dict[str, Any]) -> str:
    """error, starting, waiting (for a course, while others may be served) or ok."""
    return next((name for name in STATES[:-1] if found[name]), "ok")


class StatusRequestHandler(RequestHandler):
    """A request that is answered from the service's status."""

    def initialize(self, status: Status) -> None:
        """Set the function that returns the status (called by Tornado)."""
        self.status = status


class HealthHandler(StatusRequestHandler):
    """`health`: 200 while the service starts, waits for a course or works; 503 when its last pass ended in an error."""

    def get(self) -> None:
        """Answer with a word for the service's state; the status is 503 after a failed pass, and 200 otherwise."""
        found = self.status()
        self.set_status(503 if found["error"] else 200)
        self.finish(f"{state_of(found)}\n")


class MetricsHandler(StatusRequestHandler):
    """`metrics`: counts by course and assignment, and no names of students."""

    def get(self) -> None:
        """The numbers in Prometheus' text format."""
        self.set_header("Content-Type", CONTENT_TYPE_LATEST)
        self.finish(metrics(self.status()))


def metrics(found: dict[str, Any]) -> bytes:
    """The numbers of a status in the text format."""
    registry = CollectorRegistry()
    registry.register(StatusCollector(found))
    return generate_latest(registry)


class StatusCollector(Collector):
    """Gives prometheus_client the numbers of one status of the service."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.found = found

    def collect(self) -> Iterator[Metric]:
        """The families of metrics, each with its samples."""
        yield InfoMetricFamily("tfkit", "The installed release.", {"version": version(NAME)})
        now = state_of(self.found)
        yield StateSetMetricFamily("tfkit_service_state", "The service's state.", {one: one == now for one in STATES})
        meaning = "When the last pass over the courses without an error ended, in seconds since 1970."
        yield GaugeMetricFamily("tfkit_last_pass_timestamp_seconds", meaning, self.found["last_pass"])
        yield GaugeMetricFamily(
            "tfkit_courses_waited_for", "Courses that cannot be opened.", len(self.found["waiting"])
        )
        yield from self._submissions()

    def _submissions(self) -> Iterator[Metric]:
        waiting = GaugeMetricFamily("tfkit_submissions_waiting", "Submissions that are to be graded.", labels=LABELS)
        failed = GaugeMetricFamily("tfkit_submissions_failed", "Submissions that are tried again.", labels=LABELS)
        graded = CounterMetricFamily("tfkit_submissions_graded", "Graded since the service started.", labels=LABELS)
        released = CounterMetricFamily("tfkit_feedback_released", "Released since the service started.", labels=LABELS)
        meaning = "Verdicts that differed when a submission was graded a second time."
        unequal = CounterMetricFamily("tfkit_verdicts_unequal", meaning, labels=LABELS)
        for course, assignments in self.found["courses"].items():
            for assignment, one in assignments.items():
                where = (course, assignment)
                waiting.add_metric(where, one["waiting"])
                failed.add_metric(where, len(one["failures"]))
                graded.add_metric(where, one["graded"])
                released.add_metric(where, one["returned"])
                unequal.add_metric(where, len(one["differences"]))
        yield from (waiting, failed, graded, released, unequal)


def listen(address: str, status: Status) -> None:
    """Answer at HOST:PORT from now on. Raises PortError if that is no address, or one that cannot be used."""
    host, _, number = address.rpartition(":")
    named = re.fullmatch(r"[\w.-]+|\[[0-9a-fA-F:.]+\]", host)
    if not named or not re.fullmatch("[0-9]{1,5}", number) or not 0 < int(number) < 65536:
        raise PortError(f"{address} is no address: write HOST:PORT, such as 127.0.0.1:9321 or [::1]:9321")
    ServicePort(f"http://{address}", "/").show(application(status))


def application(status: Status) -> Application:
    """Both, for a service that is none of a Hub's: whoever reaches its address may ask."""
    given = {"status": status}
    return Application([("/health", HealthHandler, given), ("/metrics", MetricsHandler, given)])
