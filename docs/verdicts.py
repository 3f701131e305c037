"""Draws the ten verdicts of docs/diagnosis.md: grades ten of our own wrong answers, and photographs their cards.

`python docs/verdicts.py` writes `docs/images/verdict-NN-NAME.png`. It needs Chromium on the PATH, and Pillow.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops

from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.feedback.html import as_dict, verdict_html
from autograder.feedback.translate import title_of
from autograder.grade.run import grade_source
from autograder.sandbox import choose

IMAGES = Path(__file__).parent / "images"
SEED = 3
WIDE, NARROW, TALL = 760, 380, 2600
VERDICTS = (
    ("attention.scaled_dot_product", "no_scale", WIDE, ""),
    ("attention.scaled_dot_product", "weights_without_gradient", WIDE, ""),
    ("attention.attend", "mask_inverted", WIDE, "dark"),
    ("masks.causal", "sees_one_ahead", WIDE, ""),
    ("attention.multi_head", "projections_without_bias", WIDE, ""),
    ("transformer.encoder_layer", "mask_ignored", WIDE, ""),
    ("transformer.shift_right", "wraps_around", NARROW, ""),
    ("positions.axial", "", NARROW, "dark"),
    ("objectives.translation_lm", "", WIDE, "print"),
    ("tokenizers.bpe_apply", "", WIDE, "contrast"),
)
LOOKS = {
    "": "",
    "dark": "background: #111; color: #ddd",
    "print": "background: #fff; color: #000; filter: grayscale(1)",
    "contrast": "background: #000; color: #fff",
}


def main() -> None:
    """Write all pictures, or those whose numbers are given as arguments."""
    wanted = set(map(int, sys.argv[1:])) or set(range(1, len(VERDICTS) + 1))
    for number, (exercise, name, width, look) in enumerate(VERDICTS, 1):
        if number in wanted:
            path = IMAGES / f"verdict-{number:02}-{exercise.replace('.', '-')}.png"
            photograph(page(exercise, name, look), width, look, path)
            print(path)


def page(exercise: str, name: str, look: str) -> str:
    """The card of a wrong answer, by default the first one, as a page with everything unfolded."""
    found = registry.find(exercise)
    answer = next(path for path in answers(found, "wrong") if path.stem == name or not name)
    verdict = grade_source(found, answer.read_text(encoding="utf-8"), backend=choose(), device="cpu", seed=SEED)
    titled = as_dict(verdict) | {"title": title_of(found)}
    card = verdict_html(titled).replace('<details class="tfkit-v-trace"', '<details open class="tfkit-v-trace"')
    style = f"body {{ margin: 10px; font: 14px/1.4 'DejaVu Sans', sans-serif; {LOOKS[look]} }}"
    return f"<!doctype html><meta charset=utf-8><title>{exercise}</title><style>{style}</style>{card}"


def photograph(html: str, width: int, look: str, path: Path) -> None:
    """A picture of a page, cropped to its content. Raises FileNotFoundError without Chromium."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise FileNotFoundError("chromium is not on the PATH: install it")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "card.html")
        framed = html.replace("<style>", f"<style>html {{ width: {width}px }} ", 1)
        source.write_text(framed, encoding="utf-8")
        forced = ["--force-high-contrast"] if look == "contrast" else []
        size = f"--window-size={max(width, 500)},{TALL}"
        command = [browser, "--headless", "--no-sandbox", "--hide-scrollbars", *forced, size]
        subprocess.run(
            [*command, f"--screenshot={path}", source.as_uri()], check=True, capture_output=True, timeout=120
        )
    picture = Image.open(path).convert("RGB").crop((0, 0, width, TALL))
    empty = Image.new("RGB", picture.size, picture.getpixel((width - 2, TALL - 2)))
    box = ImageChops.difference(picture, empty).getbbox() or (0, 0, width, TALL)
    picture.crop((0, 0, width, min(TALL, box[3] + 10))).quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main()
