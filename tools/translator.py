"""Scores unit 05's translator on a corpus: `python -m tools.translator vscode-de --minutes 4`.

It runs the lesson's own cells, with the solutions in place, from the corpus to the scores, in one thread and in a
folder of its own, and prints two rows for docs/course-timings.md. The minutes are of processor time, as in the lesson.
`tfkit get NAME` fetches a corpus first.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from tfkit_course.command_line import make_parser

UNIT = "05-transformer"
LAST = "TranslationMemory(corpus.train)"  # stands in the last cell that is run
ROLES = ("setup", "exercise", "experiment")


def cells(corpus: str, minutes: float) -> list[str]:
    """The sources of the unit's cells up to the scores, for a corpus and a time to train.

    Raises ValueError if the lesson no longer has a line that is replaced.
    """
    from course import units
    from course.notebook import source_notebook

    (folder,) = [folder for folder in units() if folder.name == UNIT]
    code = [cell for cell in source_notebook(folder).cells if cell.cell_type == "code"]
    sources = [str(cell.source) for cell in code if cell.metadata.get("tfkit", {}).get("role") in ROLES]
    last = [number for number, source in enumerate(sources) if LAST in source]
    whole = "\0".join(sources[: last[-1] + 1] if last else sources)
    changes = {
        "corpus = parallel_corpus(LANGUAGE)": f"corpus = parallel_corpus(name={corpus!r})",
        "MINUTES, AGAIN = 6, False": f"MINUTES, AGAIN = {minutes}, True",
    }
    for old, new in changes.items():
        if old not in whole:
            raise ValueError(f"{UNIT}/lesson.py has no {old!r}: tools/translator.py replaces it")
        whole = whole.replace(old, new)
    return whole.split("\0")


def rows(names: dict[str, Any], seconds: float) -> str:
    """Two rows of the table in docs/course-timings.md, of what the cells have left."""
    test_pairs, corpus = names["asked"], names["corpus"]
    memory = names["TranslationMemory"](corpus.train)([pair.source for pair in test_pairs])
    look_up, model = (names["score"](found, test_pairs) for found in (memory, names["written"]))
    pairs = f"{len(corpus.train):,} pairs, {look_up.n_dissimilar} of the {len(test_pairs)} far"
    steps = f"{len(names['losses']):,} steps, loss {sum(names['losses'][-20:]) / 20:.2f}"
    named = {f"look-up, `{corpus.name}` ({pairs})": (look_up, ""), f"translator ({steps})": (model, f"{seconds:.0f}")}
    lines = []
    for name, (one, seconds_text) in named.items():
        numbers = (one.bleu, one.chrf, one.dissimilar_bleu, one.dissimilar_chrf)
        lines.append(f"| {name} | {seconds_text} | {' | '.join(f'{number:.1f}' for number in numbers)} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = make_parser("tools.translator", "Score unit 05's translator on a corpus, with the lesson's own cells.")
    parser.add_argument("corpus", help="a name that `tfkit get` knows, or jupyterlab-fr")
    parser.add_argument("--minutes", type=float, default=6.0, help="processor minutes of training")
    options = parser.parse_args(arguments)
    import torch

    torch.set_num_threads(1)
    names: dict[str, Any] = {"__name__": "lesson"}
    with tempfile.TemporaryDirectory() as folder:
        (unit_folder := Path(folder, UNIT)).mkdir()  # the lesson writes beside its folder
        with contextlib.chdir(unit_folder):
            for number, source in enumerate(cells(options.corpus, options.minutes)):
                exec(compile(source, f"{UNIT}, cell {number}", "exec"), names)
    print(rows(names, 60 * options.minutes), time.strftime("%Y-%m-%d"), f"load {os.getloadavg()[1]:.0f}", sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
