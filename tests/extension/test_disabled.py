"""What is disabled as a whole is not fetched by JupyterLab's page either."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tfkit_lab.disabled import HOOK, leave_out_disabled

PAGE = """
import json, sys

from jupyter_server.serverapp import ServerApp
from jupyterlab_server.config import get_page_config

app = ServerApp()
app.initialize(["--no-browser", "--allow-root", "--port=0", "--ServerApp.log_level=ERROR"])
page = get_page_config([], sys.argv[1])
page["federated_extensions"] = [{"name": name} for name in ("@tfkit/lab", "@jupyterlite/kernel", "@other/lab")]
print(json.dumps(app.web_app.settings["page_config_hook"](None, page)["federated_extensions"]))
"""


def names(page):
    return [one["name"] for one in page["federated_extensions"]]


def test_a_package_that_is_disabled_is_left_out_and_one_with_a_disabled_plugin_stays():
    settings = {}
    leave_out_disabled(settings)
    page = {"federated_extensions": [{"name": "a"}, {"name": "b"}], "disabledExtensions": ["b", "a:plugin"], "x": 1}
    assert settings[HOOK](None, page) == {**page, "federated_extensions": [{"name": "a"}]}
    assert settings[HOOK](None, {}) == {"federated_extensions": []}


def test_a_hook_that_is_there_already_is_called_first():
    settings = {HOOK: lambda handler, page: page | {"disabledExtensions": [handler]}}
    leave_out_disabled(settings)
    assert names(settings[HOOK]("a", {"federated_extensions": [{"name": "a"}, {"name": "b"}]})) == ["b"]


def test_a_server_has_it(tmp_path):
    (tmp_path / "labconfig").mkdir()
    disabled = {"disabledExtensions": {"@jupyterlite/kernel": True, "@tfkit/lab:home": True}}
    (tmp_path / "labconfig" / "page_config.json").write_text(json.dumps(disabled))
    done = subprocess.run(
        [sys.executable, "-c", PAGE, str(tmp_path / "labconfig")], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"HOME": str(tmp_path), "JUPYTERLAB_SETTINGS_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [one["name"] for one in json.loads(done.stdout.splitlines()[-1])] == ["@tfkit/lab", "@other/lab"]
