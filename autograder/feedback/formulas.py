"""Formulas as MathML, which every browser draws by itself: the pages need neither MathJax nor a network."""

from __future__ import annotations

import html
import re
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element

LONGEST = 4000  # characters; a longer formula would only keep the grader busy
TAG = r"""<(?:[^<>"']|"[^"]*"|'[^']*')*>"""  # a ">" in an attribute does not end it
NOT_FORMULAS = re.compile(rf"(<(?:pre|code|kbd|samp)\b.*?</(?:pre|code|kbd|samp)\s*>|{TAG})", re.S | re.I)
FORMULA = re.compile(
    r"\$\$(?P<block>.+?)\$\$"
    r"|(?P<named>\\begin\{(?P<name>[a-z]+\*?)\}.+?\\end\{(?P=name)\})"
    r"|\$(?P<inline>[^$]+?)\$",
    re.S,
)
SEPARATORS = re.compile(r"(\\(?:qquad|left|right)(?![A-Za-z])|\\(?:begin|end)\{[a-z]+\*?\}|\\[{}]|[{}])")
OPENING, CLOSING = re.compile(r"\{|\\begin|\\left"), re.compile(r"\}|\\end|\\right")
TAGS = frozenset(
    """math mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr
    munder munderover""".split()  # noqa: SIM905
)
ATTRIBUTES = frozenset(
    """accent columnalign columnspacing depth display displaystyle fence form height largeop linebreak linethickness
    lspace mathvariant maxsize minsize movablelimits rowspacing rspace scriptlevel separator stretchy symmetric voffset
    width""".split()  # noqa: SIM905
)


def render_formulas(page: str) -> str:
    """HTML with its `$…$`, `$$…$$` and `\\begin{…}…\\end{…}` as MathML, except in code; invalid ones stay as text."""
    parts = NOT_FORMULAS.split(page)
    return "".join(part if index % 2 else FORMULA.sub(_one, part) for index, part in enumerate(parts))


def mathml(latex: str, display: str = "inline") -> str:
    """The formula as a `<math>` element. Raises ValueError if it is not valid LaTeX."""
    if len(latex) > LONGEST:
        raise ValueError(f"a formula of {len(latex)} characters, more than the {LONGEST} allowed")
    known = latex.replace(r"\arg", r"\mathrm{arg}\,")  # the converter reads \arg\max as one unknown command
    try:
        element = _safe(convert_to_element(known, display=display))
    except Exception as error:  # the converter's errors have no common base class
        raise ValueError(f"{type(error).__name__}: {error}") from error
    left = next((text for text in element.itertext() if "\\" in text), None)
    if left:
        raise ValueError(f"{left} is not known")
    return tostring(element, encoding="unicode")


def split_at_quads(latex: str) -> list[str]:
    r"""The formulas that stand in one line, with `\qquad` between them: a narrow page may break the line there."""
    found, depth = [""], 0
    for token in filter(None, SEPARATORS.split(latex)):
        if token == r"\qquad" and depth == 0:
            found.append("")
            continue
        depth += OPENING.match(token) is not None
        depth -= CLOSING.match(token) is not None
        found[-1] += token
    return [one for one in map(str.strip, found) if one]


def _one(found: re.Match[str]) -> str:
    latex = html.unescape(found["block"] or found["named"] or found["inline"])
    try:
        return mathml(latex.strip(), "inline" if found["inline"] else "block")
    except ValueError:
        return found[0]


def _safe(element: Element) -> Element:
    """Remove links, styles and event handlers from the element, in place; text stays text and is never markup."""
    if element.tag not in TAGS:
        raise ValueError(f"{element.tag} is not allowed")
    for name in [name for name in element.attrib if name not in ATTRIBUTES]:
        del element.attrib[name]
    element.text = html.unescape(element.text or "").replace(r"\_", "_")
    for child in element:
        child.tail = html.unescape(child.tail or "")
        _safe(child)
    if element.tag == "math":
        element.set("xmlns", "http://www.w3.org/1998/Math/MathML")
    return element
