"""In a course whose nbgrader_config.py cannot be read, the server offers no formgrader: it would grade unsandboxed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from autograder.nbgrader import config

SERVER = """
import os

from jupyter_server.serverapp import ServerApp

app = ServerApp()
app.initialize(["--no-browser", "--allow-root", "--port=0", "--ServerApp.log_level=ERROR"])
print("formgrader" if "nbgrader_formgrader" in app.web_app.settings else "no formgrader")
print(os.environ.get("TRAITLETS_APPLICATION_RAISE_CONFIG_FILE_ERROR"))
"""


def start(folder):
    """What a server there says: whether it has a formgrader, and what its terminals inherit."""
    pytest.importorskip("nbgrader.server_extensions.formgrader", reason="nbgrader is not installed here")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRAITLETS_")}
    environment["HOME"] = str(folder)
    done = subprocess.run([sys.executable, "-c", SERVER], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_formgrader_is_only_there_with_a_configuration_that_can_be_read(tmp_path):
    config.install(tmp_path)
    assert start(tmp_path) == ["formgrader", "1"]
    with (tmp_path / config.CONFIG).open("a") as file:
        file.write("c.LatePolicy.grace_minutes = minutes\n")
    assert start(tmp_path) == ["no formgrader", "1"]
