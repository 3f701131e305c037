"""Records the first minute in the lab as an animated picture, `docs/images/first-minute.webp`: `python docs/film.py`.

Needs Chromium, and `jlpm install` in `extension/ui-tests`, whose `pictures/film.spec.js` says what is done. Each frame
is a file `<number>-<milliseconds>.png`. The picture is as sharp as fits into a megabyte.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pictures import DOCS, photograph
from PIL import Image

TARGET = DOCS / "images" / "first-minute.webp"
MOST = 1_000_000  # bytes
WIDTHS, QUALITIES = (1200, 960, 800), (80, 65, 50)


def main() -> int:
    """Record the frames, and put them together. The exit status of the browser's run."""
    with tempfile.TemporaryDirectory() as folder:
        status = photograph("film.config.js", folder)
        if status == 0:
            assemble(sorted(Path(folder).glob("*.png")), TARGET)
    return status


def assemble(files: list[Path], target: Path) -> None:
    """One animated picture of the frames, the largest and best that is small enough. Raises ValueError if none is."""
    durations = [int(file.stem.partition("-")[2]) for file in files]
    for width in WIDTHS:
        frames = [_scaled(file, width) for file in files]
        for quality in QUALITIES:
            first, *rest = frames
            first.save(target, save_all=True, append_images=rest, duration=durations, loop=0, quality=quality, method=4)
            if (size := target.stat().st_size) <= MOST:
                print(f"{target.name}: {size / 1000:.0f} kB, {len(frames)} frames of {width} pixels, quality {quality}")
                return
    raise ValueError(f"{target} has {target.stat().st_size} bytes, more than {MOST}: record fewer frames")


def _scaled(file: Path, width: int) -> Image.Image:
    with Image.open(file) as opened:
        whole = opened.convert("RGB")
    return whole.resize((width, round(whole.height * width / whole.width)), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    sys.exit(main())
