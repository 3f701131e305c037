"""Emoji as pictures, names and groups: the glyphs of a font (Noto Emoji, black on white; SIL Open Font License, in the
package manimgx-fonts) and what GitHub calls them (the package emojis, MIT)."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from tfkit_course import install

INSTALL = f"emoji come with two small packages and are drawn by Pillow: {install('research')}"
SIDE, PATCH = 32, 16


class Emoji(NamedTuple):
    """N emoji: patches float [N,4,256], 1 where there is ink; names, N of them; groups int64 [N]."""

    patches: Tensor
    names: list[str]
    groups: Tensor


@lru_cache
def emoji() -> Emoji:
    """All single characters except the flags, which are pairs of letters. Raises ModuleNotFoundError that says what to
    install."""
    try:
        from emojis.db.db import EMOJI_DB
        from PIL import Image, ImageDraw, ImageFont
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(INSTALL) from error
    spec = importlib.util.find_spec("manimgx_fonts")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(INSTALL)
    font = ImageFont.truetype(str(Path(spec.origin).parent / "NotoEmoji[wght].ttf"), SIDE - 8)
    rows = [(e.emoji.rstrip("\ufe0f"), " ".join(e.aliases).replace("_", " "), e.category) for e in EMOJI_DB]
    rows = [row for row in rows if len(row[0]) == 1 and font.getmask(row[0]).getbbox()]
    pictures = torch.stack([picture(row[0], font, Image, ImageDraw) for row in rows])
    groups = sorted({group for _, _, group in rows})
    return Emoji(patches(pictures), [name for _, name, _ in rows], torch.tensor([groups.index(g) for _, _, g in rows]))


def picture(character, font, image, draw) -> Tensor:
    """[SIDE,SIDE], the glyph in the middle"""
    sheet = image.new("L", (SIDE, SIDE), 0)
    draw.Draw(sheet).text((SIDE / 2, SIDE / 2), character, fill=255, font=font, anchor="mm")
    return torch.tensor(list(sheet.tobytes())).view(SIDE, SIDE) / 255


def patches(pictures: Tensor) -> Tensor:
    """[N,SIDE,SIDE] -> [N,4,PATCH·PATCH], row by row"""
    return pictures.unfold(1, PATCH, PATCH).unfold(2, PATCH, PATCH).flatten(3).flatten(1, 2)
