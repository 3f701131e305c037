"""The design tokens of `tokens.css`: JupyterLab and its views load the file itself, our own pages use this module."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

# the values of JupyterLab's dark themes, for pages outside of it
DARK_FRAME = """--jp-ui-font-color1:#e6edf3;--jp-layout-color0:#0e1318;--jp-layout-color1:#161d24;
--jp-layout-color2:#222b34;--jp-border-color2:#35414d;--jp-brand-color1:#6cb6ff""".replace("\n", "")


class Themes(NamedTuple):
    """The minified declarations for each theme. Later ones contain only what they change."""

    light: str
    dark: str
    contrast: str
    dark_contrast: str
    forced: str  # where the system forces its own colours
    dark_forced: str


@cache
def blocks() -> Themes:
    """The declarations of `tokens.css`."""
    text = (Path(__file__).parent / "tokens.css").read_text(encoding="utf-8")
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    bodies = re.findall(r"body[^{]*\{([^}]*)\}", bare)
    return Themes(*(re.sub(r"\s*([:;,])\s*", r"\1", " ".join(body.split())).strip(" ;") for body in bodies))


def light_theme_tokens(selector: str = ":root") -> str:
    """The tokens for a page that is white in every theme, as the formgrader's are."""
    return f"{selector}{{{blocks().light}}}"


def page_tokens() -> str:
    """The tokens for pages that follow the reader's system: light, dark, high contrast or its own colours. They are
    printed light."""
    themes = blocks()
    black = "--jp-layout-color0:#000;--jp-layout-color1:#000;--jp-layout-color2:#000"
    dark = "(prefers-color-scheme:dark)"
    return (
        f":root{{color-scheme:light dark;{themes.light}}}"
        f"@media screen and {dark}{{:root{{{DARK_FRAME};{themes.dark}}}}}"
        f"@media(prefers-contrast:more){{:root{{{themes.contrast}}}}}"
        f"@media screen and (prefers-contrast:more) and {dark}{{:root{{{black};{themes.dark_contrast}}}}}"
        f"@media(forced-colors:active){{:root{{{themes.forced}}}}}"
        f"@media screen and (forced-colors:active) and {dark}{{:root{{{themes.dark_forced}}}}}"
    )
