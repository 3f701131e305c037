"""The design tokens of `tokens.css`: JupyterLab and its views load the file itself, our own pages use this module."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

# the values of JupyterLab's dark themes, for pages outside of it
DARK_FRAME = """--jp-ui-font-color1:#e6edf3;--jp-layout-color0:#0e1318;--jp-layout-color1:#161d24;
--jp-layout-color2:#222b34;--jp-border-color2:#35414d;--jp-brand-color1:#6cb6ff""".replace("\n", "")
# more contrast on white, since the high-contrast theme of the file is dark
MORE_CONTRAST = "--tfk-ink-soft:var(--tfk-ink);--tfk-line:var(--tfk-ink);--tfk-line-strong:var(--tfk-ink)"


@cache
def blocks() -> tuple[str, str, str]:
    """The minified declarations for light, dark and high contrast. Later blocks contain only what they change."""
    text = (Path(__file__).parent / "tokens.css").read_text(encoding="utf-8")
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    light, dark, contrast = (
        re.sub(r"\s*([:;,])\s*", r"\1", " ".join(body.split())).strip(" ;")
        for body in re.findall(r"body[^{]*\{([^}]*)\}", bare)
    )
    return light, dark, contrast


def light_theme_tokens(selector: str = ":root") -> str:
    """The tokens for a page that is white in every theme, as nbgrader's pages are."""
    return f"{selector}{{{blocks()[0]}}}"


def page_tokens() -> str:
    """The tokens for our own pages, which follow the reader's system: light, dark or high contrast."""
    light, dark, contrast = blocks()
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{DARK_FRAME};{dark}}}}}"
        f"@media(prefers-contrast:more){{:root{{{MORE_CONTRAST}}}}}"
        "@media(prefers-contrast:more) and (prefers-color-scheme:dark)"
        f"{{:root{{--jp-layout-color0:#000;--jp-layout-color1:#000;--jp-layout-color2:#000;{contrast}}}}}"
    )
