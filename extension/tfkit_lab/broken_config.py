"""What nbgrader does about an nbgrader_config.py that cannot be read, in the server and in its terminals.

By default it prints a traceback and goes on with its own settings, which run students' code without a sandbox.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "TRAITLETS_APPLICATION_RAISE_CONFIG_FILE_ERROR"


def raise_config_errors(root: Path) -> None:
    """Let nbgrader stop: the server does not load the formgrader then. For servers in or on a course's folder only."""
    if not any((folder / "nbgrader_config.py").is_file() for folder in (root, Path.cwd())):
        return
    if os.environ.get(VARIABLE) in (None, "", "0", "false"):
        os.environ[VARIABLE] = "1"  # for the commands in its terminals
    application = sys.modules.get("nbgrader.apps.baseapp")  # imported already where the formgrader is enabled
    if application is not None:  # the variable was read when traitlets was imported
        application.NbGrader.raise_config_file_errors = True
