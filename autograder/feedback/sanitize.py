"""HTML of others without active content: nothing of it runs, fetches, or leaves its place on the page."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import bleach
import tinycss2
from bleach.css_sanitizer import CSSSanitizer

TAGS = frozenset(
    """a abbr b blockquote br code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img
    kbd li ol p pre s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var wbr
    svg g rect circle ellipse line path polyline polygon text tspan title desc""".split()  # noqa: SIM905
)
SVG_ATTRIBUTES = frozenset(
    """viewBox width height x y x1 y1 x2 y2 cx cy r rx ry d points transform fill fill-opacity stroke stroke-width
    stroke-opacity stroke-dasharray opacity text-anchor dominant-baseline font-size font-family font-weight dx dy
    role""".split()  # noqa: SIM905
)
COMMON = ["class", "id", "title", "style", "colspan", "rowspan", "align", "aria-label", "start"]
STYLES = frozenset(
    """align-items background-color border border-bottom border-collapse border-left border-radius border-right
    border-spacing border-top color column-gap display fill flex flex-direction flex-wrap font-family font-size
    font-style font-weight gap grid-template-columns height justify-content line-height list-style margin margin-bottom
    margin-left margin-right margin-top max-width min-width opacity overflow overflow-x padding padding-bottom
    padding-left padding-right padding-top stroke stroke-width text-align text-anchor text-decoration vertical-align
    white-space width word-break""".split()  # noqa: SIM905
)
PICTURES = ("data:image/png", "data:image/jpeg", "data:image/gif", "data:image/svg+xml")

# Limits of style values: nothing that fetches, nothing negative, nothing larger than a page of text needs
FUNCTIONS = ("rgb", "rgba", "hsl", "hsla", "repeat", "minmax")
UNITS = {"px": 1600.0, "pt": 1200.0, "em": 100.0, "rem": 100.0, "ex": 200.0, "ch": 200.0, "fr": 100.0, "cm": 40.0,
         "mm": 400.0, "in": 16.0, "pc": 100.0}  # fmt: skip
PERCENT, NUMBER = 200.0, 5000.0
LONGEST_STYLE, DEEPEST_STYLE = 4000, 8  # characters, and brackets in brackets: parsers of CSS are recursive
WORDS = {"overflow": ("auto", "hidden", "scroll"), "overflow-x": ("auto", "hidden", "scroll")}  # never out of the box
CLASSES = re.compile(r"dataframe|highlight|hl-[a-z0-9]+|anchor-link|[a-z]{1,2}[0-9]?")  # pandas, highlighted code
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


class StyleSanitizer(CSSSanitizer):
    """Keeps the declarations of STYLES whose values are within the limits above, and drops all others."""

    def __init__(self) -> None:
        super().__init__(allowed_css_properties=STYLES, allowed_svg_properties=[])

    def sanitize_css(self, style: str) -> str:
        """The declarations that may stay; none of a style that is longer or more deeply nested than a person writes."""
        if len(style) > LONGEST_STYLE or _depth(style) > DEEPEST_STYLE:
            return ""
        declared = tinycss2.parse_declaration_list(style, skip_comments=True, skip_whitespace=True)
        kept = [one for one in declared if one.type == "declaration" and one.lower_name in STYLES and _modest(one)]
        return ";".join(f"{one.lower_name}:{tinycss2.serialize(one.value).strip()}" for one in kept)


def _depth(style: str) -> int:
    """The largest number of brackets that are open at one place; those in strings count too."""
    open_now = deepest = 0
    for sign in style:
        open_now += (sign in "([{") - (sign in ")]}")
        deepest = max(deepest, open_now)
    return deepest


def _modest(declaration: Any) -> bool:
    words = WORDS.get(declaration.lower_name)
    return all(map(_modest_part, declaration.value)) and (
        words is None or all(one.type != "ident" or one.lower_value in words for one in declaration.value)
    )


def _modest_part(part: Any) -> bool:
    if part.type == "function":
        return part.lower_name in FUNCTIONS and all(map(_modest_part, part.arguments))
    if part.type == "dimension":
        return 0 <= part.value <= UNITS.get(part.lower_unit, -1.0)
    if part.type in ("number", "percentage"):
        return 0 <= part.value <= (NUMBER if part.type == "number" else PERCENT)
    return part.type in ("ident", "whitespace", "hash", "string") or part == "," or part == "/"


SCRIPT = re.compile(r"<(script|style)\b.*?</\1\s*>", re.I | re.S)  # bleach would leave their text on the page


def sanitize_html(html: str) -> str:
    """`html` without scripts, frames, event handlers and forms.

    Styles that fetch, and classes other than those of highlighted code and tables, are dropped as well. What is nested
    too deeply to be read is shown as the text that it is."""
    try:
        return str(
            bleach.clean(
                SCRIPT.sub("", html),
                tags=TAGS,
                attributes=_allowed,
                css_sanitizer=StyleSanitizer(),
                protocols=["http", "https", "mailto", "data", "attachment"],
                strip=True,
            )
        )
    except RecursionError:
        return f"<pre>{escape(html)}</pre>"


def _allowed(tag: str, name: str, value: str) -> bool:
    if name == "src":
        return tag == "img" and value.startswith(PICTURES)
    if name == "href":
        return tag == "a" and value.startswith(("http://", "https://", "mailto:", "#"))
    if name == "class":
        return all(CLASSES.fullmatch(word) for word in value.split())
    if name == "id":
        return tag in HEADINGS
    if name in SVG_ATTRIBUTES:
        return not re.search(r"url|[\\&@]", value, re.I)  # fill="url(…)" fetches as a style does
    return name in COMMON or (tag == "img" and name == "alt")
