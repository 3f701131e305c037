"""The one sheet of tokens, `tokens.css`: JupyterLab and its views read it as it is, pages of our own through here."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

# what JupyterLab's dark themes say, for pages that are outside of it
DARK_FRAME = """--jp-ui-font-color1:#e6edf3;--jp-layout-color0:#0e1318;--jp-layout-color1:#161d24;
--jp-layout-color2:#222b34;--jp-border-color2:#35414d;--jp-brand-color1:#6cb6ff""".replace("\n", "")
# more contrast on white; the sheet's own theme of high contrast is a dark one
MORE_CONTRAST = "--tfk-ink-soft:var(--tfk-ink);--tfk-line:var(--tfk-ink);--tfk-line-strong:var(--tfk-ink)"


@cache
def blocks() -> tuple[str, str, str]:
    """The declarations for light, dark and high contrast, minified. Later blocks hold only what they change."""
    text = (Path(__file__).parent / "tokens.css").read_text(encoding="utf-8")
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    light, dark, contrast = (
        re.sub(r"\s*([:;,])\s*", r"\1", " ".join(body.split())).strip(" ;")
        for body in re.findall(r"body[^{]*\{([^}]*)\}", bare)
    )
    return light, dark, contrast


def light_tokens(selector: str = ":root") -> str:
    """For a page that is white in every theme, as nbgrader's are."""
    return f"{selector}{{{blocks()[0]}}}"


def page_tokens() -> str:
    """For a page of our own, which follows the reader's system: light or dark, more contrast where asked for."""
    light, dark, contrast = blocks()
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{DARK_FRAME};{dark}}}}}"
        f"@media(prefers-contrast:more){{:root{{{MORE_CONTRAST}}}}}"
        "@media(prefers-contrast:more) and (prefers-color-scheme:dark)"
        f"{{:root{{--jp-layout-color0:#000;--jp-layout-color1:#000;--jp-layout-color2:#000;{contrast}}}}}"
    )
