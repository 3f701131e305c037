"""The API reference is made from docstrings, without the network, and a warning of pdoc's stops it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("pdoc", reason="pdoc, of the extra `dev`, is not installed")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def api() -> ModuleType:
    spec = importlib.util.spec_from_file_location("api_reference", ROOT / "tools" / "api_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_package_has_a_page_for_each_module(api, tmp_path):
    assert api.write(tmp_path / "api", ["tfkit.retrieve"]) == []
    page = (tmp_path / "api/tfkit/retrieve/dense.html").read_text(encoding="utf-8")
    assert "DenseIndex" in page and "searched by inner product" in page
    assert re.search(r"main\.pdoc\s*\{\s*overflow-wrap:\s*break-word", page)  # long names stay within a phone's width
    assert not [part for part in ("src", "href") if f'{part}="http' in page.replace('href="https://pdoc.dev"', "")]


def test_modules_behind_an_underscore_and_those_read_in_other_ways_are_left_out(api):
    names = api.public_modules("tfkit.decode") + api.public_modules("tfkit.objectives")
    assert "tfkit.decode.search" in names and not [name for name in names if "._" in name]


def test_a_name_that_cannot_be_found_is_a_warning_and_nothing_is_written(api, tmp_path, monkeypatch):
    (tmp_path / "wordless.py").write_text('"""A module."""\n__all__ = ["absent"]\n', encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(api, "resolve_lazy_names", lambda package: None)
    monkeypatch.setattr(api, "public_modules", lambda package: [package])
    (problem,) = api.write(tmp_path / "api", ["wordless"])
    assert "absent" in problem and not (tmp_path / "api").exists()


def test_a_layers_constructor_has_no_sentence_about_torchs_own(api, tmp_path, monkeypatch):
    (tmp_path / "layered").mkdir()
    source = '"""Layers."""\nfrom torch import nn\n\n\nclass Layer(nn.Module):\n    """A layer."""\n\n'
    source += "    def __init__(self, width: int):\n        super().__init__()\n"
    (tmp_path / "layered/__init__.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert api.write(tmp_path / "api", ["layered"]) == []
    page = (tmp_path / "api/layered.html").read_text(encoding="utf-8")
    assert "A layer." in page and "width" in page and "Initialize internal" not in page


def test_names_that_a_package_finds_on_demand_are_on_its_page(api, tmp_path):
    assert api.write(tmp_path / "api", ["tfkit.text"]) == []
    page = (tmp_path / "api/tfkit/text.html").read_text(encoding="utf-8")
    assert 'id="Collator"' in page and 'id="learn_bpe"' in page


def test_the_first_page_says_what_each_package_is(api, tmp_path):
    assert api.write(tmp_path / "api", ["tfkit.retrieve", "tfkit.text"]) == []
    page = (tmp_path / "api/index.html").read_text(encoding="utf-8")
    assert '<a href="tfkit/text.html">tfkit.text</a></dt>' in page and "Text into symbols and back.</dd>" in page
    assert "<h1>API reference</h1>" in page and 'alt="pdoc"' not in page


def test_a_module_that_needs_an_extra_has_no_page_and_is_named(api, tmp_path, monkeypatch, capsys):
    package = tmp_path / "wordy"
    package.mkdir()
    (package / "__init__.py").write_text('"""A package."""\n', encoding="utf-8")
    (package / "plain.py").write_text('"""A module."""\n', encoding="utf-8")
    (package / "card.py").write_text('"""One more."""\nimport a_package_of_an_extra\n', encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert api.write(tmp_path / "api", ["wordy"]) == []
    assert (tmp_path / "api/wordy/plain.html").exists() and not (tmp_path / "api/wordy/card.html").exists()
    assert "no page for wordy.card: a_package_of_an_extra is not installed" in capsys.readouterr().err


def test_of_a_link_to_what_its_page_lacks_the_words_remain(api, tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"><a href="#x">1</a><a href="#y">2</a><a href="b.html#z"><b>3</b></a>')
    (tmp_path / "b.html").write_text('<p id="w"><a href="a.html#x">4</a>')
    api.unlink_unknown(tmp_path)
    assert (tmp_path / "a.html").read_text() == '<p id="x"><a href="#x">1</a>2<b>3</b>'
    assert (tmp_path / "b.html").read_text() == '<p id="w"><a href="a.html#x">4</a>'
