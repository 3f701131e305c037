"""The table of a student's own model, `my_model/table.jsonl`: a line for each unit whose parts were put in.

`course.my_model` writes it, and the home page draws it. Students can write anything into it. Imports no torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfkit_course.small_file import parse_json, read_small_text, reason

PACKAGE = "my_model"
TABLE = "table.jsonl"
TABLE_BYTES = 1 << 20
MAX_NUMBER = 10**9  # of any number in it
MAX_WRITES = 200  # letters of what the model wrote
COUNTS = ("unit", "own", "of", "steps")
MEASURES = ("bits_per_byte", "bytes_per_second")


def read_table(path: Path) -> list[dict[str, Any]]:
    """The lines in the units' order, of each unit the last; none where there is no file. ValueError if it is damaged.

    A line has the columns of `COUNTS` and `MEASURES`, and what the model wrote, `writes`.
    """
    try:
        lines = [_line(parse_json(text)) for text in read_small_text(path, TABLE_BYTES).split("\n") if text.strip()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read ({reason(error)}): delete it, and put the parts in again") from error
    return [line for _, line in sorted({line["unit"]: line for line in lines}.items())]


def _line(found: Any) -> dict[str, Any]:
    """The columns of a line. Raises ValueError if one is not as it should be."""
    found = found if isinstance(found, dict) else {}
    for key in (*COUNTS, *MEASURES):
        value, kind = found.get(key), int if key in COUNTS else int | float
        least = 0 if key == "own" else 1e-9
        if not isinstance(value, kind) or isinstance(value, bool) or not least <= value <= MAX_NUMBER:
            raise ValueError(f"a line has no proper {key!r}")
    if found["own"] > found["of"]:
        raise ValueError("a line has no proper 'own'")
    writes = found.get("writes")
    return {key: found[key] for key in (*COUNTS, *MEASURES)} | {"writes": str(writes or "")[:MAX_WRITES]}


def for_home_page(root: Path, units: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What the home page draws: the lines, and whether the table is `damaged`; None where no unit puts anything in.

    units: as `course.units` gives them. The table is beside the folders of the units, as the notebooks write it.
    """
    growing = [root / unit["path"] for unit in units if unit["model_cell"] is not None]
    if not growing:
        return None
    for folder in dict.fromkeys(notebooks_folder(path.parent) for path in growing):
        try:
            if lines := read_table(folder / PACKAGE / TABLE):
                return {"lines": lines, "damaged": False}
        except ValueError:
            return {"lines": [], "damaged": True}
    return {"lines": [], "damaged": False}


def notebooks_folder(here: Path) -> Path:
    """The folder in which `my_model/` is: above the folder of a unit, whose name begins with its number."""
    return here.parent if here.name[:2].isdigit() else here
