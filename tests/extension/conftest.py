"""Fixtures of the front end's Python side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

# By import, for this folder alone: pytest takes `pytest_plugins` only from the top, where it would slow all the tests.
from pytest_jupyter.jupyter_core import *  # noqa: F403
from pytest_jupyter.jupyter_server import *  # noqa: F403
from pytest_jupyter.pytest_tornasync import *  # noqa: F403

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(params=["greedy", "beam"])
def trace(request: pytest.FixtureRequest) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{request.param}.json").read_text(encoding="utf-8"))


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    return {"ServerApp": {"jpserver_extensions": {"tfkit_lab": True}}}
