"""Draws the pictures of views, of the instructor's pages and of the lab on the course: `python docs/pictures.py`.

The views are those of `docs/gallery.html`; other pages that `make test-ui` has just photographed are taken from there.
A picture is written to `docs/images` with as many colours as fit into 150 kB; what is there already and is larger is
written anew. It needs Chromium, and `jlpm install` in `extension/ui-tests`. The class report is drawn by `python -c
'import pictures; pictures.draw_report()'` alone as well, in `docs`: from collected answers, which it grades.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops

DOCS = Path(__file__).parent
TESTS = DOCS.parent / "extension" / "ui-tests"
MOST = 150_000  # bytes of a picture
COLOURS = (256, 128, 64, 32, 16)  # tried in this order
PHOTOGRAPHED = {  # in the tests' `screenshots`, without the ending -> in `docs/images`
    "check-wrong-high-contrast": "verdict-high-contrast",
    "check-wrong-zoom": "verdict-zoom",
    "class-predictions": "class-predictions",
    "family": "family",
    "home-forced-colours": "home-forced-colours",
    "home-zoom": "home-zoom",
    "play-light": "play",
    "prediction-compared": "prediction-compared",
    "prediction-light": "prediction",
    "tour-light": "tour",
}
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
EXERCISES = ("attention.split_heads", "attention.multi_head")
SPLIT, MULTI = "right/reshape_and_transpose", "right/all_heads_at_once"
CLASS = (  # students of the report's class, and which of the collected answers they give to EXERCISES
    (9, SPLIT, MULTI),
    (4, "reshaped_without_transpose", "heads_split_by_reshaping"),
    (2, "merge_forgets_the_transpose", MULTI),
    (1, "heads_added_up", "single_head"),
    (4, SPLIT, "no_scale"),
    (2, SPLIT, "nan_on_empty_row"),
    (1, SPLIT, "mask_after_softmax"),
    (1, SPLIT, "weights_averaged_over_heads"),
)


def main() -> int:
    """Draw all, and make those that are too large smaller. The exit status of the browser's run."""
    with tempfile.TemporaryDirectory() as folder:
        status = 0
        for config in ("config.js", "course.config.js"):
            status |= photograph(config, folder)
        for drawn in sorted(Path(folder).glob("*.png")):
            save(drawn, DOCS / "images" / drawn.name)
    save_photographed(TESTS / "screenshots")
    draw_report()
    for old in sorted((DOCS / "images").glob("*.png")):
        if old.stat().st_size > MOST:
            save(old, old)
    return status


def photograph(config: str, folder: str) -> int:
    """Let Playwright write the pictures of a file in `pictures` into the folder. The exit status of its run."""
    command = ["node_modules/.bin/playwright", "test", "--config", f"pictures/{config}"]
    return subprocess.run(command, cwd=TESTS, env={**os.environ, "PICTURES": folder}).returncode


def save_photographed(folder: Path) -> None:
    """The pictures that the browser's tests have left in a folder, of those which the documents show."""
    for name, target in PHOTOGRAPHED.items():
        if (folder / f"{name}.png").exists():
            save(folder / f"{name}.png", DOCS / "images" / f"{target}.png")
        else:
            print(f"{target}.png: not drawn anew; `make test-ui` photographs it")


def draw_report() -> None:
    """The report of a class of unit 03, from verdicts on collected answers, photographed without its empty rest."""
    from autograder.report.page import page

    students = []
    for count, split, multi in CLASS:
        students += count * [
            {name: _verdict(name, answer) for name, answer in zip(EXERCISES, (split, multi), strict=True)}
        ]
    with tempfile.TemporaryDirectory() as folder:
        html, drawn = Path(folder, "report.html"), Path(folder, "report.png")
        html.write_text(page("03-heads", students), encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1000,3000"]
        command = [CHROMIUM, *options, f"--screenshot={drawn}", html.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
        with Image.open(drawn) as opened:
            whole = opened.convert("RGB")
        empty = Image.new("RGB", whole.size, whole.getpixel((0, 0)))
        _, _, _, bottom = ImageChops.difference(whole, empty).getbbox() or (0, 0, *whole.size)
        whole.crop((0, 0, whole.width, min(bottom + 40, whole.height))).save(drawn)
        save(drawn, DOCS / "images" / "report.png")


@cache
def _verdict(exercise: str, name: str) -> dict[str, Any]:
    """The verdict on a collected answer, without the checks that this machine cannot run."""
    code = subprocess.run(["autograder", "corpus", "show", exercise, name], check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder, "answer.py")).write_bytes(code)
        command = ["autograder", "check", exercise, str(file), "--json", "--seed", "0"]
        verdict = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
    return verdict | {"checks": [one for one in verdict["checks"] if one["status"] != "not_run"]}


def save(source: Path, target: Path) -> None:
    """A picture with fewer colours, the first number of them with which it is small enough, or else the last."""
    with Image.open(source) as opened:
        whole = opened.convert("RGB")
    for colours in COLOURS:
        whole.quantize(colours, dither=Image.Dither.NONE).save(target, optimize=True)
        if target.stat().st_size <= MOST:
            break
    print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB, {colours} colours")


if __name__ == "__main__":
    sys.exit(main())
