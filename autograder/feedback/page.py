"""A page of one HTML file without scripts, images or external resources, with a light and a dark theme."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from autograder.feedback.tokens import page_tokens
from autograder.feedback.translate import say

STYLE = """
html{background:var(--tfk-page)}
body{font:15px/1.5 var(--tfk-font-ui);color:var(--tfk-ink);background:var(--tfk-page);max-width:62rem;margin:0 auto;
padding:var(--tfk-s5) var(--tfk-s4) var(--tfk-s6)}
h1{font-size:var(--tfk-t5);line-height:1.2;font-weight:650}
h2{font-size:var(--tfk-t4);line-height:1.3;margin:var(--tfk-s6) 0 var(--tfk-s2)}
main p{max-width:46rem}code,pre{font-family:var(--tfk-font-code)}
a{color:var(--tfk-accent)}:focus-visible{outline:2px solid var(--tfk-accent);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-size:var(--tfk-t2);font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto;background:var(--tfk-card);border:1px solid var(--tfk-line);border-radius:var(--tfk-r3);
padding:var(--tfk-s2) var(--tfk-s3)}
th,td{text-align:right;padding:var(--tfk-s2) 10px;border-bottom:1px solid var(--tfk-line);vertical-align:top}
tbody tr:last-child>*{border-bottom:0}thead th{color:var(--tfk-ink-soft);font-weight:600}
th:first-child,td:first-child,th[scope=row],.text{text-align:left}th[scope=row],th[scope=rowgroup]{font-weight:normal}
th[scope=row]~td:not(.text){white-space:nowrap}
.bar{display:flex;height:14px;width:8rem;margin-top:3px;background:var(--tfk-track);border-radius:var(--tfk-r1);overflow:hidden}
.bar span+span{border-left:2px solid var(--tfk-card)}
.full{background:var(--tfk-right)}.part{background:var(--tfk-wait)}.none{background:var(--tfk-wrong)}
.open{background:repeating-linear-gradient(135deg,var(--tfk-line-strong) 0 2px,var(--tfk-track) 2px 6px)}
.key{display:inline-block;width:.8rem;height:.8rem;margin-right:.3rem;border-radius:2px}
thead th{white-space:nowrap}
@media(max-width:30rem){.bar{width:4.5rem}.scroll,.scroll th,.scroll td{padding-inline:var(--tfk-s1)}}
.bar,.key{forced-color-adjust:none}
@media(prefers-contrast:more),(forced-colors:active){
.part{background:repeating-linear-gradient(90deg,var(--tfk-wait) 0 3px,var(--tfk-card) 3px 5px)}}
@media print{.scroll{overflow:visible;border:0;padding:0}.bar,.key{print-color-adjust:exact}}
"""


def document(title: str, body: str, style: str = "", language: str = "en") -> str:
    """A complete HTML document in this language; `title` is text, the rest is markup."""
    title = escape(title)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    return (
        f'<!doctype html>\n<html lang="{escape(language)}">'
        f"<head>{head}<style>{page_tokens()}{STYLE}{style}</style></head>\n"
        f"<body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )


def histogram(title: str, note: str, what: str, counts: Sequence[int]) -> str:
    """A section with the numbers of students for each fifth of `what`, a share."""
    fifths = [say("{low} to {high} %", low=20 * at, high=20 * at + 20) for at in range(len(counts))]
    rows = [
        f'<tr>{row_head(fifth)}<td class="text"><div class="bar" aria-hidden="true">'
        f'<span class="full" style="width:{count / max(1, *counts):.0%}"></span></div></td><td>{count}</td></tr>'
        for fifth, count in zip(fifths, counts, strict=True)
    ]
    head = (
        f'<th scope="col">{what}</th><th scope="col" class="text">{say("Shape")}</th>'
        f'<th scope="col">{say("Students")}</th>'
    )
    return table(title, note, head, rows)


def row_head(text: str) -> str:
    """The cell that names a row."""
    return f'<th scope="row">{escape(text)}</th>'


def table(title: str, note: str, head: str, rows: Iterable[str]) -> str:
    """A section with a table that can be scrolled to by keyboard; all but `title` is markup."""
    name = "-".join(title.split())  # an id has no spaces
    return (
        f'<h2 id="{name}">{title}</h2><p>{note}</p>'
        f'<div class="scroll" role="region" aria-labelledby="{name}" tabindex="0"><table aria-labelledby="{name}">'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{chr(10).join(rows)}</tbody></table></div>\n"
    )
