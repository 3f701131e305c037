"""The server of the browser tests: only this machine reaches it, and it shows only the prepared folder."""

import os
from pathlib import Path

root = Path(__file__).parent / ".tmp" / "root"
c = get_config()  # noqa: F821
c.ServerApp.root_dir = str(root)
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = int(os.environ.get("UI_PORT", "8899"))
c.ServerApp.port_retries = 0
c.ServerApp.allow_root = True
c.ServerApp.open_browser = False
c.IdentityProvider.token = "tests"
c.LabApp.expose_app_in_browser = True
plugin = root.parent / "plugin"
c.LabApp.extra_labextensions_path = [str(plugin / "share" / "jupyter" / "labextensions")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(plugin), os.environ.get("PYTHONPATH")]))  # of kernels
c.LabApp.user_settings_dir = str(root.parent / "settings")
c.LabApp.workspaces_dir = str(root.parent / "workspaces")
os.environ["TFKIT_PREDICTIONS"] = str(root.parent / "predictions")  # where a class's predictions meet
