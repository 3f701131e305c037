"""Where a course keeps what is not in its folder, as its nbgrader_config.py says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from nbgrader.apps import AutogradeApp
from sqlalchemy.engine import make_url

PREDICTIONS = "TFKIT_PREDICTIONS"  # the folder in which a class's predictions and outcomes meet, if there is one


def kept_outside(app: AutogradeApp, root: Path, environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """A few words for each thing that lies outside the folder: gradebook, key, exchange, predictions."""
    url = make_url(app.coursedir.db_url)
    if url.get_backend_name() != "sqlite":
        yield (f"the gradebook, which is on a server ({url.render_as_string(hide_password=True)}): copy it with the "
               "server's own program, such as pg_dump")  # fmt: skip
    elif _is_outside(url.database, root):
        yield f"the gradebook, {url.database}"
    if _is_outside(key := app.config.get("BoxedExecute", {}).get("key_file"), root):
        yield f"the course's key, {key}"
    if _is_outside(exchange := app.config.get("Exchange", {}).get("root"), root):
        yield f"the exchange, {exchange}: what students handed in and nobody collected yet"
    if _is_outside(folder := environment.get(PREDICTIONS), root):
        yield f"the class's predictions, {folder}"


def _is_outside(path: object, root: Path) -> bool:
    return bool(path) and not Path(os.path.abspath(root / str(path))).is_relative_to(root)
