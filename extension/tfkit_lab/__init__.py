"""The JupyterLab side of tfkit: the server extension, and widgets that draw recorded decoding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["Stepper", "to_html"]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "@tfkit/lab"}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "tfkit_lab"}]


def _link_jupyter_server_extension(server_app: Any) -> None:  # called before anything of the server is made
    from tfkit_lab import broken_config
    from tfkit_lab.handlers import prepare_at_startup

    root = Path(server_app.root_dir).expanduser()
    broken_config.raise_config_errors(root)
    prepare_at_startup(root)


def _load_jupyter_server_extension(server_app: Any) -> None:
    from tfkit_lab.disabled import leave_out_disabled
    from tfkit_lab.handlers import add_routes

    add_routes(server_app.web_app)
    leave_out_disabled(server_app.web_app.settings)
    server_app.log.info("tfkit_lab: course and check routes are ready")


def __getattr__(name: str) -> Any:  # loaded on first use, since the server process needs no ipywidgets
    if name in __all__:
        from tfkit_lab import widgets

        return getattr(widgets, name)
    raise AttributeError(f"module 'tfkit_lab' has no attribute {name!r}")
