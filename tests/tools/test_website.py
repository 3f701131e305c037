"""The site: every architecture has a page, links lead somewhere, nothing comes from elsewhere, no solution is shown."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nbgrader", reason="nbgrader, of the extra `grading`, is not installed")

from course import units
from course.notebook import source_notebook
from course.settings import read
from tests.models.table import unfinished
from tfkit import registry
from tools.website import DOCS, SiteError, book, check, outputs, pages, parity, views, zoo
from tools.website.__main__ import check_tab, facts, main

FOLDERS = {folder.name: folder for folder in units()}
SETTINGS = {unit.name: unit for unit in read()}


def page_of(name: str, tmp_path: Path, language: str = "en") -> str:
    return book.Page(FOLDERS[name], SETTINGS[name], language, tmp_path, "../").text()


def site(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    return tmp_path


def test_every_architecture_has_a_page_with_its_code_and_its_family():
    tree = zoo.index()
    for name, module in registry.sources().items():
        if module.startswith("tfkit.models."):
            text = zoo.write_page(name)
            assert f'href="{name}.html"' in tree
            assert f"`tfkit read {name}`" in text and "class " in text
            assert zoo.parents()[name] is None or f"({zoo.parents()[name]}.md)" in text


def test_small_models_and_published_sizes_are_timed_in_tables_of_their_own():
    small, published = zoo.benchmark_tables("gpt2")
    assert small.startswith("A small model:") and "| gpt2 | 1024 |" in small and "| gpt2 | 128 |" not in small
    assert published.startswith("The published size:") and "| gpt2 | 128 |" in published
    assert len(zoo.benchmark_tables("llama")) == 1 and zoo.benchmark_tables("rnn_seq2seq") == []


def test_a_table_has_no_column_that_is_empty_for_the_architecture():
    (table,) = zoo.benchmark_tables("distilbert")
    head, _, *rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("|")]
    assert all(any(row[place].strip() for row in rows) for place in range(len(head)))
    assert "forward" in table and "beam" not in table and "| beam 4 |" in zoo.benchmark_tables("bart")[0]


def test_objectives_are_links_to_their_pages_and_exist():
    assert 'href="../api/tfkit/objectives/causal_lm.html"' in zoo.description("llama")
    unknown = {name for name in zoo.docstrings() if "`objectives." in zoo.description(name)}
    assert not unknown


def test_an_anatomy_is_kept_and_read_again(tmp_path):
    rows = zoo.anatomy("gpt2", tmp_path)
    assert rows[0].parameters == 124_439_808
    assert zoo.anatomy("gpt2", tmp_path) == rows and len(list(tmp_path.iterdir())) == 1


def test_a_units_page_has_its_exercises_and_none_of_their_solutions(tmp_path):
    text = page_of("02-masks", tmp_path)
    assert "Your turn: `masks.causal`" in text and "raise NotImplementedError" in text
    plain = "\n" + "\n".join(check.plain_lines(text)) + "\n"
    secrets = {name: lines for name, lines in check.hidden().items() if name.startswith("02-masks/")}
    assert len(secrets) >= 5  # four functions and a mark scheme
    assert not [name for name, lines in secrets.items() for run in check.runs_of(lines) if f"\n{run}\n" in plain]


def test_phrases_that_point_are_links_that_sphinx_leaves_alone(tmp_path):
    text = page_of("02-masks", tmp_path)
    assert "](#show:" not in text and text.count('<a href="#show:') > 5
    assert '<a href="#show:code=two_axes">is taken for `[Q,K]`</a>' in text
    assert '<a href="#show:map=2&amp;cols=4..5">cut off after the fourth column</a>' in text
    assert text.count("_static/views/points.js") == 1 and "points.js" not in page_of("08-encoders", tmp_path)
    page = '<a href="#show:rows=2">row 2</a> <a href="#nowhere">text</a>'
    assert list(check.links(tmp_path, site(tmp_path, page=page).glob("*.html"))) == [
        "page.html: <a> #nowhere: that page has no such anchor"
    ]


def test_a_projects_cell_is_a_box_without_its_solution(tmp_path):
    for language, title in (("en", "Your project"), ("fr", "Votre projet")):
        text = page_of("17-capstone", tmp_path, language)
        assert f"{title}: `language-model`" in text and "class LanguageModel(nn.Module):" in text
        assert text.count("raise NotImplementedError") == 4 + 3  # the class's four methods, and what a hunt asks for
        plain = "\n" + "\n".join(check.plain_lines(text)) + "\n"
        secrets = {name: lines for name, lines in check.hidden().items() if name.startswith("17-capstone/")}
        assert len(secrets) == 4 + 3 + 1  # those of the methods and of the hunt, and a mark scheme
        assert not [name for name, lines in secrets.items() for run in check.runs_of(lines) if f"\n{run}\n" in plain]


def test_a_page_with_a_solution_is_found(tmp_path):
    solved = next(cell for cell in source_notebook(FOLDERS["02-masks"]).cells if cell.id == "solution-masks-softmax")
    place = site(tmp_path, page=f"<pre>{solved.source.replace('<', '&lt;')}</pre>")
    assert "shows hidden lines of 02-masks/solution-masks-softmax" in next(check.solutions(place, place.glob("*.html")))


def test_french_pages_share_the_outputs(tmp_path):
    text = page_of("02-masks", tmp_path, "fr")
    assert "À vous" in text and "{image}" in text


def test_a_view_in_a_lesson_tells_no_expression_of_the_solution():
    kept = [output for unit in FOLDERS for cell in outputs.load_outputs(unit).values() for output in cell["outputs"]]
    walks = [
        output["view"]["trace"] for output in kept if output.get("view", {}).get("trace", {}).get("kind") == "walk"
    ]
    assert walks and not any("code" in stage for walk in walks for stage in walk["stages"])


def test_a_cell_that_has_changed_since_it_was_run_shows_nothing():
    cell = next(
        cell for cell in source_notebook(FOLDERS["02-masks"]).cells if cell.id in outputs.load_outputs("02-masks")
    )
    assert outputs.outputs_of("02-masks", cell)
    cell.source += "\n"
    assert outputs.outputs_of("02-masks", cell) is None


def test_broken_links_and_requests_are_named(tmp_path):
    place = site(
        tmp_path,
        a='<a href="b.html#there">1</a><a href="b.html#gone">2</a><a href="c.html">3</a><a href="https://arxiv.org">4</a>',
        b='<p id="there"><img src="https://example.org/x.png"></p>',
    )
    files = sorted(place.glob("*.html"))
    assert [line.partition("> ")[2] for line in check.links(place, files)][:2] == [
        "b.html#gone: that page has no such anchor",
        "c.html: there is no such file",
    ]
    assert list(check.requests(place, files)) == ["b.html: <img> fetches https://example.org/x.png"]


def test_an_anchor_is_found_as_it_is_written_and_decoded(tmp_path):
    place = site(
        tmp_path, a='<a href="#%C3%A9">1</a><a href="#%C3%A0">2</a><a href="#%C3%B9">3</a><p id="é"><p id="%C3%A0">'
    )
    assert list(check.links(place, place.glob("*.html"))) == ["a.html: <a> #%C3%B9: that page has no such anchor"]


def test_emphasis_that_is_none_is_named(tmp_path):
    place = site(
        tmp_path,
        a="<p>*<strong>Launch.</strong></p><p>**Tuning<em> are</em></p><p>named <em>a</em> task*</p>",
        b="<p>2 * 3, <code>**kwargs</code> and A*</p>".replace("A*", "A* search"),
    )
    found = list(check.marks(place, sorted(place.glob("*.html"))))
    assert [line.partition(":")[0] for line in found] == ["a.html"] * 3


def test_every_architecture_has_its_figures_against_transformers_or_a_reason():
    kept = parity.load()
    assert sorted([*kept["rows"], *parity.WITHOUT, *unfinished()]) == sorted(zoo.docstrings())
    assert parity.section("rag", kept) == parity.WITHOUT["rag"] and "Not measured yet" in parity.section("new", kept)
    for name, fields in kept["rows"].items():
        row = parity.Parity(**fields)
        assert row.logits <= 1e-5 * max(1.0, row.largest) and row.loss <= 1e-4, name
        assert row.gradients <= (1e-2 if name in ("ctrl", "reformer") else 1e-4), name
        assert row.compared > 0.7 * row.parameters, name
        assert f"`{row.model}` of transformers" in parity.section(name, kept)


def test_the_figures_of_a_model_are_measured_again():
    row = next(row for row in parity.EVERY if row.name == "gpt2")
    found, kept = parity.measure(row), parity.Parity(**parity.load()["rows"]["gpt2"])
    assert (found.shape, found.compared, found.parameters) == (kept.shape, kept.compared, kept.parameters)
    assert 0 < found.logits < 10 * kept.logits and found.largest == pytest.approx(kept.largest, rel=0.05)


def test_links_among_documents_become_links_among_pages(tmp_path, capsys):
    text = "[`docs/units.md`](docs/units.md) [a](docs/decisions/course.md#x) [code](course/build.py) `[no](x.md)` [p](http://x.org)"
    made = pages.rewrite_links(text, "README.md", "start/readme", tmp_path)
    assert (
        made
        == "[`docs/units.md`](../handbook/units.md) [a](../decisions/course.md#x) code `[no](x.md)` [p](http://x.org)"
    )
    assert pages.rewrite_links("[a](docs/nowhere.md)", "README.md", "start/readme", tmp_path) == "a"
    assert "README.md links to docs/nowhere.md, which is not there" in capsys.readouterr().err


def test_decisions_are_a_file_a_room_whose_numbers_are_unique():
    """Code and documents cite a decision by its number, which stays when texts move."""
    files = sorted((DOCS / "decisions").glob("*.md"))
    assert len(files) <= 20
    numbers = []
    for file in files:
        text = re.sub(r"(?ms)^```.*?^```$", "", file.read_text(encoding="utf-8"))
        assert re.match(r"# [A-Z]", text), file.name
        headings = re.findall(r"^## (.*)$", text, re.M)
        assert headings and all(re.match(r"\d+\. \S", heading) for heading in headings), file.name
        numbers += [int(heading.partition(".")[0]) for heading in headings]
    assert len(numbers) == len(set(numbers))


def test_every_decision_that_is_cited_exists():
    known = {
        int(number)
        for file in (DOCS / "decisions").glob("*.md")
        for number in re.findall(r"^## (\d+)\. ", file.read_text(encoding="utf-8"), re.M)
    }
    for file in [*DOCS.rglob("*.md"), *(DOCS.parent / "tfkit").rglob("*.py")]:
        cited = re.findall(r"\b[Dd]ecision (\d+)", file.read_text(encoding="utf-8"))
        assert set(map(int, cited)) <= known, file


def test_the_guide_that_all_may_read_has_no_mark_scheme():
    text = pages.teaching(FOLDERS["01-recurrence-to-attention"])
    assert "## Common misconceptions" in text and "How to mark it" not in text


def test_a_views_state_cannot_end_its_script():
    text = views.view({"trace": {"kind": "walk", "title": "</script><b>"}}, "0", "")
    assert "</script><b>" not in text


def test_a_french_page_brings_the_french_words_of_its_views(tmp_path):
    state = {"trace": {"kind": "matrices", "title": "Masks"}}
    assert "views/words-fr.js" in views.view(state, "0", "", "fr") and "words-" not in views.view(state, "0", "")
    views.write_scripts(tmp_path, {"matrices"}, ["fr"])
    said = (tmp_path / "words-fr.js").read_text(encoding="utf-8")
    assert json.loads(said.removeprefix("globalThis.siteWords = ").rstrip(";\n"))["value"] == "valeur"


PAGE_STUB = """
const [theme, dark, more] = JSON.parse(process.argv[1]);
const asked = {'(prefers-color-scheme: dark)': {matches: dark}, '(prefers-contrast: more)': {matches: more}};
const changes = [];
globalThis.matchMedia = query => Object.assign(asked[query], {addEventListener: (_, then) => changes.push(then)});
globalThis.MutationObserver = class { observe() {} };
const body = {dataset: {theme}, setAttribute: (name, value) => (body[name] = value)};
globalThis.document = {body, addEventListener() {}};
const said = () => [body['data-jp-theme-light'], body['data-jp-theme-name']];
eval(require('fs').readFileSync('SCRIPT', 'utf-8'));
const first = said();
Object.values(asked).forEach(query => (query.matches = !query.matches));
changes.forEach(then => then());
console.log(JSON.stringify([first, said()]));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not installed")
@pytest.mark.parametrize(
    ("theme", "dark", "more", "now", "after"),
    [
        ("auto", False, True, ["true", "High Contrast"], ["false", ""]),
        ("auto", True, False, ["false", ""], ["true", "High Contrast"]),
        ("light", True, True, ["true", "High Contrast"], ["true", ""]),
        ("dark", False, True, ["false", "High Contrast"], ["false", ""]),
    ],
)
def test_views_take_light_dark_and_contrast_from_page_and_system(theme, dark, more, now, after):
    script = PAGE_STUB.replace("SCRIPT", str(DOCS / "site" / "views.js"))
    command = ["node", "-e", script, json.dumps([theme, dark, more])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [now, after]


def test_the_gallery_is_an_exported_page():
    assert len(views.exported_states((DOCS / "gallery.html").read_text(encoding="utf-8"))) > 10
    with pytest.raises(SiteError, match="not an exported page"):
        views.exported_states("<html></html>")


def test_no_random_word_of_the_gallerys_corruptions_is_padding():
    """BERT draws its random words from the vocabulary: what the gallery gives it as one are words."""
    states = views.exported_states((DOCS / "gallery.html").read_text(encoding="utf-8"))
    (trace,) = [state["trace"] for state in states if state["trace"]["kind"] == "corruption"]
    (bert,) = [one for one in trace["objectives"] if "BERT" in one["name"]]
    inputs = [token for draw in bert["draws"] for token in draw["inputs"]]
    assert len(inputs) == len(bert["draws"]) * len(trace["tokens"]) and "<pad>" not in inputs


def test_the_books_translator_translates_better_than_looking_up():
    """What a reader of unit 05 sees first of the model: its scores beside those of a translation memory."""
    kept = json.loads((DOCS / "book/05-transformer.json").read_text(encoding="utf-8"))
    scores = dict(re.findall(r"(your model|translation memory) +all \d+: BLEU ([\d.]+)", json.dumps(kept)))
    assert float(scores["your model"]) > 1.2 * float(scores["translation memory"])


def test_the_book_decodes_with_the_translator_that_unit_05_trained():
    """What unit 07 is for: its page never shows the small stand-in."""
    texts = json.dumps(json.loads((DOCS / "book/07-decoding.json").read_text(encoding="utf-8")))
    assert "this is the translator that you trained in unit 05" in texts
    assert "no translator from unit 05" not in texts


def test_no_page_takes_single_keys_and_french_pages_say_their_language(tmp_path):
    pytest.importorskip("furo", reason="the extra `site` is not installed: make site")
    source, made = tmp_path / "source", tmp_path / "made"
    (source / "course/fr").mkdir(parents=True)
    shutil.copy(DOCS / "site/conf.py", source)
    shutil.copy(DOCS / "site/landing.html", source)
    shutil.copy(DOCS / "site/scorer.js", source)
    (source / "facts.json").write_text(json.dumps(facts(tab=False)), encoding="utf-8")
    (source / "contents.md").write_text("# Contents\n\n```{toctree}\ncourse/fr/one\n```\n", encoding="utf-8")
    (source / "course/fr/one.md").write_text("# Une page\n", encoding="utf-8")
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-b", "html", str(source), str(made)], check=True)
    options = (made / "_static/documentation_options.js").read_text(encoding="utf-8")
    assert "NAVIGATION_WITH_KEYS: false" in options and "ENABLE_SEARCH_SHORTCUTS: false" in options
    languages = [re.findall(r'<html[^>]* lang="(\w+)"', (made / page).read_text("utf-8"))
                 for page in ("contents.html", "course/fr/one.html")]  # fmt: skip
    assert languages == [["en"], ["fr"]]


@pytest.mark.slow
def test_a_site_is_built_and_holds(tmp_path):
    pytest.importorskip("furo", reason="the extra `site` is not installed: make site")
    assert main([str(tmp_path / "site"), "--fast"]) == 0
    first = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert json.loads(first.split('<script type="application/json">')[1].split("</script>")[0])["trace"]["nodes"]
    assert (tmp_path / "site/searchindex.js").exists()


def test_a_claim_that_was_not_run_yet_is_named_and_not_linked(monkeypatch):
    monkeypatch.setattr(zoo, "claims", lambda name: ["no_such_claim", "copy_reverse_sort"])
    text = zoo.write_page("gpt")
    assert "no such claim (not run yet)" in text and "#no_such_claim" not in text
    assert "[copy reverse sort](../library/reproductions.md#copy_reverse_sort)" in text


def test_the_first_pages_button_starts_the_course_where_the_site_has_it(tmp_path):
    assert facts(tab=True)["start"] == "tab/lab/index.html"
    assert (facts(tab=False)["start"], facts(tab=False)["start_words"]) == ("start/readme.html", "Start the course")
    with pytest.raises(SiteError, match="is no site with the course in the browser"):
        check_tab(tmp_path)
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/index.html").touch()
    with pytest.raises(SiteError, match="has no Pyodide of its own"):
        check_tab(tmp_path)
    (tmp_path / "static/pyodide").mkdir(parents=True)
    (tmp_path / "static/pyodide/pyodide.mjs").touch()
    check_tab(tmp_path)
