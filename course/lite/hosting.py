"""What a static host needs beside the pages: which files may be kept by browsers, and a page for wrong addresses.

GitHub Pages, GitLab Pages and object stores show `404.html`; Netlify and Cloudflare Pages also read `_headers`, Apache
`.htaccess`. Without them everything works, and browsers decide by themselves what they keep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ASK, KEEP = "no-cache", "public, max-age=31536000, immutable"  # ask each time whether there is a newer one; never ask
FOLDER = "build"  # JupyterLite names most scripts there by their content, as 21.43761e7.js
HASHED = re.compile(r"[^/.]+\.[0-9a-f]{7,}\.js")
MISSING = Path(__file__).with_name("missing.html")


def write_hosting(site: Path) -> None:
    """Write `404.html`, `_headers`, `.htaccess` and `.nojekyll` into the folder of a site."""
    (site / "404.html").write_text(MISSING.read_text(encoding="utf-8"), encoding="utf-8")
    (site / "_headers").write_text("\n".join(_headers(site)) + "\n", encoding="utf-8")
    (site / ".htaccess").write_text("\n".join(_apache()) + "\n", encoding="utf-8")
    (site / ".nojekyll").touch()  # GitHub Pages would leave out what begins with an underscore


def _hashed_beginnings(site: Path) -> list[str]:
    """The first letters of the scripts whose names change with their content, where nothing else begins like that."""
    names = [path.name for path in (site / FOLDER).iterdir()] if (site / FOLDER).is_dir() else []
    others = {name[0] for name in names if not HASHED.fullmatch(name)}
    return sorted({name[0] for name in names} - others)


def _headers(site: Path) -> Iterator[str]:
    """Rules of Netlify and Cloudflare, at most a hundred and none for what another one matches, since one adds the
    headers of both and the other those of the last. Without a rule both let browsers ask each time."""
    yield from ("/*", "  X-Content-Type-Options: nosniff")
    for letter in _hashed_beginnings(site):
        yield from (f"/{FOLDER}/{letter}*", f"  Cache-Control: {KEEP}")


def _apache() -> Iterator[str]:
    yield "ErrorDocument 404 /404.html"
    yield "AddType application/wasm .wasm"
    yield "<IfModule mod_headers.c>"
    yield f'  Header set Cache-Control "{ASK}"'
    yield f'  <FilesMatch "^{HASHED.pattern}$">'
    yield f'    Header set Cache-Control "{KEEP}"'
    yield "  </FilesMatch>"
    yield "</IfModule>"
