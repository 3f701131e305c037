"""One sheet of tokens: whoever uses one finds it there, and words on it can be read in each theme."""

import re
from pathlib import Path

import pytest
from pygments.formatters import HtmlFormatter

from autograder.feedback import page
from autograder.feedback.tokens import blocks, light_theme_tokens, page_tokens
from autograder.nbgrader.feedback import DARK_CODE
from autograder.report import similar_page

ROOT = Path(__file__).parents[3]
STYLES = [
    *ROOT.glob("autograder/*/*.css"),
    *ROOT.glob("autograder/*/*page.py"),
    *ROOT.glob("extension/style/*.css"),
    *ROOT.glob("extension/tfkit_lab/*.css"),
    *ROOT.glob("extension/src/**/*.ts"),
]


def names(text):
    return set(re.findall(r"(--tfk-[a-z0-9-]+)\s*:", text))


def test_every_token_that_is_used_is_there():
    """A misspelled one paints nothing, and nobody is told."""
    sheet = names(blocks().light) | names((ROOT / "autograder/feedback/card.css").read_text(encoding="utf-8"))
    for path in STYLES:
        text = path.read_text(encoding="utf-8")
        scripts = "".join(script.read_text(encoding="utf-8") for script in path.parent.glob("*.ts"))
        own = names(text) | set(re.findall(r"setProperty\('(--tfk-[a-z0-9-]+)'", scripts))
        used = set(re.findall(r"var\((--tfk-[a-z0-9-]+)[,)]", text))
        assert used - own - sheet == set(), path
    assert len(sheet) > 50


def test_themes_change_tokens_and_add_none():
    light, *others = map(names, blocks())
    assert len(others) == 5
    for theme in others:
        assert theme < light


def declared(text):
    return dict(re.findall(r"(--tfk-[a-z0-9-]+):([^;]+)", text))


def test_forced_colours_are_the_systems_and_scales_those_of_high_contrast():
    """A name of a colour of the system for what frames, values of the same theme for what is painted."""
    themes = blocks()
    light = declared(themes.light) | declared(themes.contrast)
    dark = {name: value for name, value in declared(themes.dark_contrast).items() if name != "--tfk-sunk"}
    forced = declared(themes.forced)
    system = {
        name for name, value in forced.items() if re.fullmatch(r"Canvas|CanvasText|Highlight|HighlightText", value)
    }
    assert {"--tfk-ink", "--tfk-card", "--tfk-line", "--tfk-accent", "--tfk-on-accent", "--tfk-lit"} <= system
    assert {name: light[name] for name in forced.keys() - system} == {n: forced[n] for n in forced.keys() - system}
    assert declared(themes.dark_forced) == dark
    assert dark.keys() == forced.keys() - system  # nothing of a light theme stays on a dark ground


def test_pages_paint_with_tokens_alone():
    assert not re.search(r"#[0-9a-f]{3,8}\b", page.STYLE + similar_page.STYLE)
    shown = page.document("A <page>", "<p>words</p>")
    assert "prefers-color-scheme:dark" in shown
    assert "prefers-contrast:more" in shown
    assert "forced-colors:active" in shown
    assert ".bar,.key{forced-color-adjust:none}" in shown  # their colour is all they have
    assert "url(" not in page_tokens()  # nothing is fetched
    assert light_theme_tokens(".card").startswith(".card{--tfk-")


def test_in_high_contrast_lines_are_ink_and_parts_of_a_bar_are_told_by_a_pattern_too():
    card = (Path(page.__file__).parent / "card.css").read_text(encoding="utf-8")
    strong = r"\.tfkit-verdict \{ --tfk-v-line: currentcolor; \}"
    for asked in (r"\(prefers-contrast: more\)", r"\(forced-colors: active\)"):
        assert re.search(rf"@media {asked} \{{ {strong}", card), asked
    query, rule = re.search(r"@media(\(prefers-contrast:more\)[^{]*)\{([^{]*\{[^}]*\})", page.STYLE).groups()
    assert "(forced-colors:active)" in query and rule.strip().startswith(".part{background:repeating-linear-gradient(")


def luminance(colour):
    digits = "".join(2 * c for c in colour[1:]) if len(colour) == 4 else colour[1:]
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("theme", "card"), [(0, "#fff"), (1, "#161d24"), (2, "#fff"), (3, "#000"), (4, "#fff"), (5, "#000")]
)
def test_states_can_be_read_on_a_card_and_words_on_states(theme, card):
    colours = declared(blocks().light) | declared(blocks()[theme])
    for state in ("right", "wrong", "wait"):
        colour = colours[f"--tfk-{state}"]
        assert ratio(colour, card) >= 4.5
        assert ratio(colour, colours[f"--tfk-{state}-soft"]) >= 4.5
        assert ratio(colour, colours["--tfk-on-state"]) >= 4.5


def test_code_in_the_dark_can_be_read_on_both_of_its_grounds():
    """WCAG's 4.5 : 1, on the ground of Pygments' style and on `--tfk-sunk` of the dark. Spaces have no ink."""
    rules = re.findall(
        r"^\.highlight (?!\.w )[^{]*\{([^}]*)\}", HtmlFormatter(style=DARK_CODE).get_style_defs(".highlight"), re.M
    )
    inks = {
        found[1]
        for rule in rules
        if (found := re.search(r"(?:^|;)\s*color: (#\w{6})", rule)) and "background" not in rule
    }
    assert len(inks) > 8
    assert [ink for ink in inks for ground in ("#0d1117", "#1c242c") if ratio(ink, ground) < 4.5] == []
