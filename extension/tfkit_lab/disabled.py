"""JupyterLab's page without the packages that are disabled as a whole.

JupyterLab fetches their modules all the same, and only then leaves their plugins out. One that is made for another
application, such as JupyterLite's kernel, logs an error at each start because it lacks that application's modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HOOK = "page_config_hook"  # of a server's settings; JupyterLab calls it with the handler and the page's configuration
Configure = Callable[[Any, dict[str, Any]], dict[str, Any]]


def leave_out_disabled(settings: dict[str, Any]) -> None:
    """Let the server's pages name no package that is disabled; a hook that is there already is called first."""
    before: Configure | None = settings.get(HOOK)

    def configure(handler: Any, page: dict[str, Any]) -> dict[str, Any]:
        page = before(handler, page) if before else page
        disabled = set(page.get("disabledExtensions", ()))
        packages = page.get("federated_extensions", [])
        return page | {"federated_extensions": [one for one in packages if one["name"] not in disabled]}

    settings[HOOK] = configure
