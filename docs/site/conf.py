"""Sphinx's settings for the site; tools/website writes its sources."""

import json
from pathlib import Path

from autograder.feedback.formulas import mathml, split_at_quads

project = "tfkit"
html_title = "tfkit"
copyright = "The tfkit authors"
root_doc = "contents"
extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "dollarmath", "attrs_block"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_links_external_new_tab = False
suppress_warnings = ["toc.not_included", "myst.header", "misc.highlighting_failure"]
exclude_patterns = ["landing.html"]
templates_path = ["."]
html_theme = "furo"
# Arrow keys scroll boxes of code and tables, and no key without Ctrl or Alt acts outside a field (WCAG 2.1.4).
html_theme_options = {"navigation_with_keys": False, "enable_search_shortcuts": False}
html_static_path = ["_static"]
html_css_files = ["tokens.css", "site.css"]
html_js_files = [("reach.js", {"defer": "defer"})]
html_additional_pages = {"index": "landing.html"}
html_context = json.loads((Path(__file__).parent / "facts.json").read_text(encoding="utf-8"))
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"  # the others are too pale for WCAG's contrast
pygments_dark_style = "github-dark"
copybutton_prompt_text = "$ "
copybutton_selector = "div:not(.site-output) > div.highlight > pre"


def formula(display):
    """A visitor that writes a formula as MathML, which browsers render natively."""

    def visit(translator, node):
        from docutils.nodes import SkipNode

        latex = node.astext().strip()
        if display == "block":
            parts = "".join(f"<div>{mathml(one, display)}</div>" for one in split_at_quads(latex))
            translator.body.append(f'<div class="math">{parts}</div>')
        else:
            translator.body.append(mathml(latex, display))
        raise SkipNode

    return visit


def name_language(app, page, template, context, tree):
    """Pages of the French book say that they are French; Sphinx has one language for all pages of a site."""
    if page.startswith("course/fr/"):
        context["language"] = "fr"


def setup(app):
    """Registers the visitor, for formulas without MathJax, and the language of French pages."""
    app.connect("html-page-context", name_language)
    app.add_html_math_renderer("mathml", (formula("inline"), None), (formula("block"), None))
    app.config.html_math_renderer = "mathml"
