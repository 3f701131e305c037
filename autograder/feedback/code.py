"""Code with the numbers of its lines, for cards and for the terminal."""

from __future__ import annotations

from html import escape


def numbered_html(code: str) -> str:
    """The code as an HTML block; the text is escaped."""
    rows = "".join(
        f'<span class="tfkit-h-line"><span class="tfkit-h-number">{number}</span>{escape(line) or " "}\n</span>'
        for number, line in enumerate(code.splitlines(), 1)
    )
    return f'<pre class="tfkit-h-code" tabindex="0"><code>{rows}</code></pre>'


def numbered_lines(code: str) -> list[str]:
    """The code as lines of text."""
    return [f"{number:3}  {line}".rstrip() for number, line in enumerate(code.splitlines(), 1)]
