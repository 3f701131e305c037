"""The JupyterLab side of tfkit: the server extension, and widgets that draw recorded decoding."""

from __future__ import annotations

from typing import Any

__all__ = ["Stepper", "to_html"]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "@tfkit/lab"}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "tfkit_lab"}]


def _load_jupyter_server_extension(server_app: Any) -> None:
    from tfkit_lab.handlers import add_routes, prepare_at_startup

    add_routes(server_app.web_app)
    prepare_at_startup(server_app.web_app)
    server_app.log.info("tfkit_lab: course and check routes are ready")


def __getattr__(name: str) -> Any:  # loaded on first use, since the server process needs no ipywidgets
    if name in __all__:
        from tfkit_lab import widgets

        return getattr(widgets, name)
    raise AttributeError(f"module 'tfkit_lab' has no attribute {name!r}")
