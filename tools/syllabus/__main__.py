"""`python -m tools.syllabus` writes docs/syllabus.md with its drawing, and the table of tracks in README.md."""

from __future__ import annotations

from dataclasses import astuple, fields

from course import units
from course.settings import read, tracks
from tfkit_course.command_line import make_parser
from tools.syllabus import ROOT
from tools.syllabus.graph import draw
from tools.syllabus.needs import needs
from tools.syllabus.page import GRAPH, with_tracks, write_page
from tools.syllabus.workload import Workload, workload


def estimate() -> str:
    """A table of what is in each unit, what the rule makes of it, and what course.toml says."""
    planned = {unit.name: unit.minutes for unit in read()}
    lines = ["\t".join(["unit", *(field.name for field in fields(Workload)), "rule", "course.toml"])]
    for folder in units():
        own = workload(folder)
        lines.append("\t".join(map(str, [folder.name, *astuple(own), round(own.minutes), planned[folder.name]])))
    return "\n".join(lines)


def files() -> dict[str, str]:
    """Path below the repository -> contents, of all that is written."""
    course = read()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    drawing = draw(course, needs(course), tracks()["core"].units)
    return {"docs/syllabus.md": write_page(), f"docs/{GRAPH}": drawing, "README.md": with_tracks(readme)}


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = make_parser("tools.syllabus", (__doc__ or "").strip())
    parser.add_argument("--estimate", action="store_true", help="write nothing; print what the estimate is made of")
    if parser.parse_args(arguments).estimate:
        print(estimate())
        return 0
    for name, text in files().items():
        (ROOT / name).write_text(text, encoding="utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
