"""What programs ask a grading service that is none of a Hub's, and its log for programs."""

from __future__ import annotations

import io
import json
import socket
from datetime import datetime
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from autograder.console.output import JsonConsole
from autograder.serve import probes
from autograder.serve.port import PortError, ServicePort

COUNTS = {"waiting": 3, "graded": 40, "returned": 39, "failures": {"ada": "a reason"}, "differences": ["x", "y"]}
FOUND = {"error": "", "starting": False, "waiting": {}, "last_pass": 1.5, "courses": {'a "b"': {"02-masks": COUNTS}}}


def samples(found: dict) -> dict[str, float]:
    text = probes.metrics(found).decode()
    return {
        one.name + "".join(sorted(one.labels.values())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_metrics_have_the_counts_and_no_names() -> None:
    found = samples(FOUND)
    where = '02-masksa "b"'
    assert {name.removesuffix(where): value for name, value in found.items() if name.endswith(where)} == {
        "tfkit_submissions_waiting": 3, "tfkit_submissions_failed": 1, "tfkit_submissions_graded_total": 40,
        "tfkit_feedback_released_total": 39, "tfkit_verdicts_unequal_total": 2,
    }  # fmt: skip
    assert found["tfkit_last_pass_timestamp_seconds"] == 1.5
    assert b"ada" not in probes.metrics(FOUND)


@pytest.mark.parametrize(
    ("change", "state"),
    [({}, "ok"), ({"waiting": {"c": "why"}}, "waiting"), ({"starting": True}, "starting"), ({"error": "e"}, "error")],
)
def test_exactly_one_state_is_on(change: dict, state: str) -> None:
    found = samples({**FOUND, **change})
    assert {one: found[f"tfkit_service_state{one}"] for one in probes.STATES} == {
        one: float(one == state) for one in probes.STATES
    }


def test_an_address_of_its_own_answers() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = dict(FOUND)
    ServicePort(f"http://127.0.0.1:{port}", "/").show(probes.application(lambda: found))
    assert urlopen(f"http://127.0.0.1:{port}/health", timeout=20).read() == b"ok\n"
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain") and b"tfkit_info{" in answer.read()
    found["error"] = "the disk is full"
    with pytest.raises(HTTPError) as caught:
        urlopen(f"http://127.0.0.1:{port}/health", timeout=20)
    assert caught.value.code == 503 and caught.value.read() == b"error\n"
    with pytest.raises(PortError, match=f"port {port} of 127.0.0.1"):
        ServicePort(f"http://127.0.0.1:{port}", "/")


NO_ADDRESSES = ["9321", "host:x", "127.0.0.1", "host:99999999", "::1:9396", "[::1:9389", "127.0.0.1/x:9390", "host:²"]


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_is_no_address_is_refused_in_a_line(address: str) -> None:
    with pytest.raises(PortError, match="is no address"):
        probes.listen(address, lambda: FOUND)


def test_each_line_of_the_log_is_an_object() -> None:
    out = io.StringIO()
    console = JsonConsole(file=out, width=1000)
    console.print("[green]✓[/] ada  3/3")
    console.print("! not started: [x]", style="yellow", markup=False)
    console.print("[yellow]! ben  why[/]\n")
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(one["level"], one["message"]) for one in found] == [
        ("info", "✓ ada  3/3"), ("warning", "! not started: [x]"), ("warning", "! ben  why")
    ]  # fmt: skip
    assert all(datetime.fromisoformat(one["time"]).tzinfo is not None for one in found)


@pytest.mark.parametrize("url", ["http://127.0.0.1:none/", "http://[::1/", f"http://{'long' * 30}/"])
def test_a_hubs_address_that_is_none_is_refused_too(url: str) -> None:
    with pytest.raises(PortError, match="is no address of a service"):
        ServicePort(url, "/")
