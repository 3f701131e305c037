"""Which front end a kernel talks to, as far as it can know: editors that have widgets and nothing of ours."""

from __future__ import annotations

import importlib
import os
import sys

ASKED = "TFKIT_WIDGET_VIEW"  # 1 or 0 in the environment decides, whatever is guessed


def in_vscode() -> bool:
    """Whether VS Code runs this kernel: it says so with a name in the notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "__vsc_ipynb_file__" in shell.user_ns


def in_colab() -> bool:
    """Whether Colab runs this kernel."""
    return "google.colab" in sys.modules


def wants_widget_view() -> bool:
    """Whether outputs are to name their live widget for the front end itself to draw.

    In JupyterLab and Notebook our own renderer does that, and falls back to the recording. An exporter that finds the
    name shows nothing where the kernel has gone, so it stands in no other notebook.
    """
    asked = os.environ.get(ASKED)
    return asked == "1" if asked in ("0", "1") else in_vscode() or in_colab()


def allow_widgets() -> None:
    """Colab draws widgets of others only where a notebook asks for it."""
    if in_colab():
        importlib.import_module("google.colab.output").enable_custom_widget_manager()
