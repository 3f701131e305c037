"""Front ends without our extension: the live widget is named for them alone, and a picture says what it is."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest
from ipywidgets import embed

from tfkit_lab import Stepper, hosts
from tfkit_lab.widgets import WIDGET_VIEW

TRACE = json.loads((Path(__file__).parent / "golden" / "greedy.json").read_text(encoding="utf-8"))


@pytest.fixture
def shell(monkeypatch):
    """A kernel of our own making: what is in its notebook's names."""
    found = types.SimpleNamespace(user_ns={})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: found))
    monkeypatch.delenv(hosts.OVERRIDE, raising=False)
    return found


def bundle():
    stepper = Stepper(TRACE)
    return stepper, stepper._repr_mimebundle_()[0]


def test_jupyter_and_exporters_are_given_no_widget_view(shell):
    assert WIDGET_VIEW not in bundle()[1]


def test_vs_code_draws_the_live_widget(shell):
    shell.user_ns["__vsc_ipynb_file__"] = "unit.ipynb"
    stepper, data = bundle()
    assert data[WIDGET_VIEW] == {"version_major": 2, "version_minor": 0, "model_id": stepper.model_id}
    assert "tfkit-static" in data["text/html"]  # for who reads the file without a kernel


def test_colab_is_asked_to_draw_widgets_of_others(shell, monkeypatch):
    asked = []
    output = types.SimpleNamespace(enable_custom_widget_manager=lambda: asked.append(True))
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    assert WIDGET_VIEW in bundle()[1] and asked


@pytest.mark.parametrize(("said", "has"), [("1", True), ("0", False)])
def test_the_environment_decides(shell, monkeypatch, said, has):
    if not has:
        shell.user_ns["__vsc_ipynb_file__"] = "unit.ipynb"
    monkeypatch.setenv(hosts.OVERRIDE, said)
    assert (WIDGET_VIEW in bundle()[1]) is has


def test_a_picture_says_how_to_step(shell):
    assert "It can be stepped through in JupyterLab" in bundle()[1]["text/html"]


def test_a_page_of_ipywidgets_embed_brings_the_script_and_every_trait():
    """What `embed_minimal_html` leaves out as a default, the page cannot know: of anywidgets, the script itself."""
    stepper = Stepper(TRACE)
    state = embed.embed_data(views=[stepper])["manager_state"]["state"][stepper.model_id]["state"]
    assert state["_esm"] == stepper.script.read_text(encoding="utf-8")
    assert state["trace"] == TRACE and state["step"] == 0 and state["requests"] == []
