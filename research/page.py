"""Writes docs/reproductions.md and its figures from the saved runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from research.contract import Measurement
from research.runs import ClaimRun, load

FOLDER = Path("images/reproductions")
HEAD = """# Claims of the papers, tried at small scale

Written by `python -m research --all`. Each claim is a file in `research/claims/`, which says what is measured and why
the bands are what they are. A finding holds when *every* seed's value lies in its band; a claim is reproduced when
all its findings hold. Models are tiny and trained for seconds, so a claim that fails here is not refuted: it is not
reproduced at this scale, and its section says what was tried. Minutes are CPU time unless stated otherwise.
"""
TABLE = "| claim | finding | measured | band | holds |\n|---|---|---|---|---|\n"


@dataclass(frozen=True)
class ClaimReport:
    """A claim with its runs and findings."""

    name: str
    module: ModuleType
    runs: list[ClaimRun]
    findings: list[Measurement]

    @property
    def holds(self) -> bool:
        """Whether there are findings and all of them hold."""
        return bool(self.findings) and all(finding.holds for finding in self.findings)

    @property
    def verdict(self) -> str:
        """The verdict in words, no stronger than the findings allow."""
        return "reproduced" if self.holds else "not reproduced at this scale"


def result(name: str, runs: Sequence[ClaimRun]) -> ClaimReport:
    """The report on a claim's runs. Raises ValueError when there are none."""
    if not runs:
        raise ValueError(f"{name} has not been run: python -m research {name}")
    module = load(name)
    return ClaimReport(name, module, list(runs), module.judge([run.numbers for run in runs]))


def write(results: Sequence[ClaimReport], folder: Path, unrun: Sequence[str] = ()) -> Path:
    """Writes the page and a figure for each claim into `folder` -> the page

    Claims of `unrun` that an earlier page in `folder` has stay on it as they were; the others are listed as not run.
    """
    import matplotlib

    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    # equal numbers give an equal file: text is stored as text, without dates and random names
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tfkit", "font.family": "sans-serif"}):
        for one in results:
            save(one, folder / FOLDER / f"{one.name}.svg")
    page = folder / "reproductions.md"
    parts = {name: part for name, part in earlier_parts(page).items() if name in unrun}
    left = (
        [f"Not run yet: {', '.join(name for name in unrun if name not in parts)}.\n"]
        if set(unrun) - parts.keys()
        else []
    )
    parts |= {one.name: (rows(one), section(one)) for one in results}
    in_order = [parts[name] for name in sorted(parts)]
    table = TABLE + "".join(part for part, _ in in_order)
    page.write_text("\n".join([HEAD, table, *left, *(part for _, part in in_order)]), encoding="utf-8")
    return page


def earlier_parts(page: Path) -> dict[str, tuple[str, str]]:
    """Claim -> its rows in the table and its section, of a page that `write` has written; {} if there is none."""
    if not page.exists():
        return {}
    header, *sections = re.split(r"(?m)^## ", page.read_text(encoding="utf-8"))
    texts = {text.partition("\n")[0]: f"## {text.rstrip()}\n" for text in sections}
    found = {}
    for block in re.split(r"(?m)^(?=\| \[)", header)[1:]:
        name = block[len("| [") : block.index("]")]
        lines = (line for line in block.splitlines(keepends=True) if line.startswith("|"))
        found[name] = ("".join(lines), texts[name])
    return found


def save(one: ClaimReport, file: Path) -> None:
    """Draws a claim's figure into an SVG file; equal numbers give an equal file."""
    fig: Any = one.module.draw([run.numbers for run in one.runs])
    about = {"Title": one.module.CLAIM.title, "Description": one.module.CLAIM.alt, "Date": None}
    fig.savefig(file, format="svg", facecolor="white", metadata=about)
    rows = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(row.rstrip() for row in rows) + "\n", encoding="utf-8")


def rows(one: ClaimReport) -> str:
    """A claim's findings as rows of a Markdown table."""
    found = []
    for i, finding in enumerate(one.findings):
        link = f"[{one.name}](#{one.name}): **{one.verdict}**, {seeds_in_words(one.runs)}" if i == 0 else ""
        found.append(f"| {link} {cells(finding)}\n")
    return "".join(found)


def cells(finding: Measurement) -> str:
    """The cells of one finding in a row."""
    holds = "yes" if finding.holds else "**no**"
    return f"| {finding.sentence} | {finding.summary} | {finding.band} | {holds} |"


def section(one: ClaimReport) -> str:
    """One claim as Markdown: its sentence, paper, figure and remarks."""
    claim = one.module.CLAIM
    return "\n".join(
        [
            f"## {one.name}",
            f"{claim.title}. *{claim.paper}.* **{one.verdict.capitalize()}.**\n",
            f"![{claim.alt}]({FOLDER.as_posix()}/{one.name}.svg)\n",
            *([claim_text(one.module) + "\n"] if claim_text(one.module) else []),
            *([f"{claim.remark}\n"] if claim.remark else []),
            f"{run_summary(one.runs)}\n",
        ]
    )


def seeds_in_words(runs: Sequence[ClaimRun]) -> str:
    """The number of seeds in words."""
    return f"{len(runs)} seeds" if len(runs) > 1 else "a single seed"


def run_summary(runs: Sequence[ClaimRun]) -> str:
    """How long the runs took, when, and on what kind of machine."""
    minutes = sum(run.seconds for run in runs) / 60
    days, machines = (sorted({getattr(run, what) for run in runs}) for what in ("date", "machine"))
    took = f"{seeds_in_words(runs)}, {minutes:.1f} minutes"
    return f"Scale {runs[0].scale}, {took}; {', '.join(days)}; {'; '.join(machines)}."


def claim_text(module: ModuleType) -> str:
    """A claim's docstring without its first line, which repeats the title."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[2].strip()
