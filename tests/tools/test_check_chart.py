"""tools/check_chart.py: a sound chart passes; a wrong value, a wrong manifest and a failing template are named."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).parents[2]
NEEDED = ("helm_python", "kubernetes_validate")
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"global": {}, "hub": {"type": "object"}, "singleuser": {"properties": {"cmd": {"type": "string"}}}},
}
CONFIG = """apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-settings
data:
  cmd: {{ .Values.singleuser.cmd | quote }}
  url: {{ (index .Values.hub.services "grader-tfkit").url }}
  kept: {{ .Values.hub.kept | quote }}
"""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("check_chart", ROOT / "tools/check_chart.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """A chart that takes our values and has one template."""
    (tmp_path / "templates").mkdir()
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: small\nversion: 0.1.0\n")
    (tmp_path / "values.yaml").write_text("hub: {kept: default, services: {}}\nsingleuser: {cmd: jupyter}\n")
    (tmp_path / "values.schema.yaml").write_text(yaml.safe_dump(SCHEMA))
    (tmp_path / "templates/settings.yaml").write_text(CONFIG)
    return tmp_path


@pytest.fixture
def checked(tool: ModuleType, capsys: pytest.CaptureFixture[str]) -> Callable[[Path], tuple[int, str]]:
    """Runs the check where its two packages are installed: its status and what it prints."""
    for name in NEEDED:
        pytest.importorskip(name, reason=f"{name} is not installed: make chart installs it")

    def check(chart: Path) -> tuple[int, str]:
        status = tool.main(chart)
        return status, capsys.readouterr().out

    return check


def test_our_values_lie_on_top_of_the_charts(tool):
    base = {"hub": {"kept": 1, "services": {}}, "list": [1, 2]}
    over = {"hub": {"services": {"grader": {"url": "u"}}}, "list": [3], "new": {"a": None}}
    merged = {"hub": {"kept": 1, "services": {"grader": {"url": "u"}}}, "list": [3], "new": {"a": None}}
    assert tool.merge(base, over) == merged
    assert base == {"hub": {"kept": 1, "services": {}}, "list": [1, 2]}


def test_a_value_that_the_charts_schema_forbids_is_named(tool, chart):
    assert tool.value_faults(chart) == []
    (chart / "values.schema.yaml").write_text(yaml.safe_dump({"properties": {"singleuser": {"required": ["ram"]}}}))
    assert tool.value_faults(chart) == ["values: ['singleuser']: 'ram' is a required property"]


def test_without_its_packages_it_says_how_to_get_them(tool, chart, monkeypatch):
    monkeypatch.setitem(sys.modules, "kubernetes_validate", None)
    with pytest.raises(SystemExit, match="make chart"):
        tool.main(chart)


def test_a_folder_without_a_chart_is_told_in_a_line(tool, tmp_path):
    with pytest.raises(SystemExit, match="no chart"):
        tool.main(tmp_path)


def test_a_sound_chart_has_no_faults(checked, chart):
    status, said = checked(chart)
    count = 1 + len(list(yaml.safe_load_all((ROOT / "examples/kubernetes/grader.yaml").read_text())))
    assert (status, said.count("\n")) == (0, 1), said
    assert said.startswith(f"{count} manifests, Kubernetes ") and said.endswith(": 0 faults\n")


def test_a_manifest_that_kubernetes_refuses_is_named(checked, chart):
    (chart / "templates/wrong.yaml").write_text(CONFIG.replace("data:", "dates:"))
    status, said = checked(chart)
    assert status == 1 and "wrong.yaml: ConfigMap: " in said and "dates" in said and said.endswith(": 1 faults\n")


def test_a_template_that_does_not_render_is_a_fault(checked, chart):
    (chart / "templates/settings.yaml").write_text(CONFIG.replace("| quote", "| quoted"))
    status, said = checked(chart)
    assert status == 1 and "templates: " in said and "quoted" in said


def test_our_own_manifests_are_checked(checked, chart, tool, tmp_path, monkeypatch):
    ours = tmp_path / "ours"
    ours.mkdir()
    for name in ("values.yaml", "grader.yaml"):
        text = (ROOT / "examples/kubernetes" / name).read_text()
        (ours / name).write_text(text.replace("replicas: 1 ", "replicas: one "))
    monkeypatch.setattr(tool, "HERE", ours)
    status, said = checked(chart)
    assert status == 1 and "grader.yaml: Deployment: " in said and "one" in said


def test_the_real_chart_takes_our_values(checked):
    if not (folder := os.environ.get("CHART")):
        pytest.skip("CHART does not name the folder `jupyterhub` of Zero to JupyterHub's repository")
    status, said = checked(Path(folder))
    assert status == 0, said
