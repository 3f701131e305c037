"""Draws the pictures of views, of the instructor's pages and of the lab on the course: `python docs/pictures.py`.

The views are those of `docs/gallery.html`; other pages that `make test-ui` has just photographed are taken from there.
A picture is written to `docs/images` with as many colours as fit into 150 kB; what is there already and is larger is
written anew. It needs Chromium, and `jlpm install` in `extension/ui-tests`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

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
    "prediction-compared": "prediction-compared",
    "prediction-light": "prediction",
    "tour-light": "tour",
}


def main() -> int:
    """Draw all, and make those that are too large smaller. The exit status of the browser's run."""
    with tempfile.TemporaryDirectory() as folder:
        status = 0
        for config in ("config.js", "course.config.js"):
            command = ["node_modules/.bin/playwright", "test", "--config", f"pictures/{config}"]
            status |= subprocess.run(command, cwd=TESTS, env={**os.environ, "PICTURES": folder}).returncode
        for drawn in sorted(Path(folder).glob("*.png")):
            save(drawn, DOCS / "images" / drawn.name)
    save_photographed(TESTS / "screenshots")
    for old in sorted((DOCS / "images").glob("*.png")):
        if old.stat().st_size > MOST:
            save(old, old)
    return status


def save_photographed(folder: Path) -> None:
    """The pictures that the browser's tests have left in a folder, of those which the documents show."""
    for name, target in PHOTOGRAPHED.items():
        if (folder / f"{name}.png").exists():
            save(folder / f"{name}.png", DOCS / "images" / f"{target}.png")
        else:
            print(f"{target}.png: not drawn anew; `make test-ui` photographs it")


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
