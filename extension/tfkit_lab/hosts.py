"""Guesses which front end a kernel talks to: some editors support widgets, but lack our renderer."""

from __future__ import annotations

import importlib
import os
import sys

OVERRIDE = "TFKIT_WIDGET_VIEW"  # 1 or 0 in the environment overrides the guess


def in_vscode() -> bool:
    """Whether VS Code runs this kernel, which sets a variable in the notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "__vsc_ipynb_file__" in shell.user_ns


def in_colab() -> bool:
    """Whether Colab runs this kernel."""
    return "google.colab" in sys.modules


def wants_widget_view() -> bool:
    """Whether outputs should include the MIME type of their live widget for the front end itself to draw.

    In JupyterLab and Notebook our own renderer draws it, and falls back to the recording. An exporter that finds that
    type shows nothing without a kernel, so no other notebook contains it.
    """
    override = os.environ.get(OVERRIDE)
    return override == "1" if override in ("0", "1") else in_vscode() or in_colab()


def allow_widgets() -> None:
    """Enable custom widgets in Colab, which draws them only if a notebook asks for it."""
    if in_colab():
        importlib.import_module("google.colab.output").enable_custom_widget_manager()
