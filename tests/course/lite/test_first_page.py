"""The first page of the course in the browser: the button, and nothing from elsewhere."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook

pytest.importorskip("nbgrader", reason="nbgrader, of the extra `grading`, is not installed")

from course.lite import first_page, wheels
from course.lite.site import first_language
from course.settings import LessonError
from tools.website import check

PLAY = Path(__file__).parents[3] / "extension" / "src" / "play"


def test_it_starts_the_course_and_fetches_nothing_from_elsewhere(tmp_path):
    first_page.write_first_page(tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'href="lab/index.html">Start the course in this tab</a>' in page and "DARK_FRAME" not in page
    assert list(check.requests(tmp_path, [tmp_path / "index.html"])) == []
    packed = (tmp_path / "play-model.js").read_text(encoding="utf-8").removeprefix("globalThis.sitePlay = ")
    assert json.loads(packed.rstrip(";\n"))["config"]["layers"] == 4
    assert "http" not in (tmp_path / "play.js").read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")


def test_the_lab_finds_its_settings_in_the_page_above_it(tmp_path):
    """JupyterLite's config-utils.js parses this script of `index.html`, and a lab of a site without it stays empty."""
    first_page.write_first_page(tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    settings = re.findall(r'<script id="jupyter-config-data" type="application/json"[^>]*>(.*?)</script>', page)
    assert [json.loads(text) for text in settings] == [{}]


def test_the_first_page_of_a_french_course_is_french(tmp_path):
    page = first_page.HERE.joinpath("index.html").read_text(encoding="utf-8")
    assert [english for english in first_page.IN_FRENCH if page.count(english) != 1] == []
    first_page.write_first_page(tmp_path, "fr")
    french = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert '<html lang="fr">' in french and ">Commencer le cours dans cet onglet</a>" in french
    words = json.loads(re.findall(r'<script type="application/json" id="play-words">(.*)</script>', french)[0])
    sources = "".join(file.read_text(encoding="utf-8") for file in PLAY.glob("*.ts") if ".spec" not in file.name)
    assert set(re.findall(r"\btranslated\(\s*'([^']+)'", sources)) <= set(words)
    notebook = new_notebook(metadata={"tfkit": {"language": "fr"}})
    (tmp_path / "02.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")
    assert (first_language([tmp_path / "02.ipynb"]), first_language([])) == ("fr", "en")


def test_its_scripts_and_model_take_less_than_two_megabytes(tmp_path):
    first_page.write_first_page(tmp_path)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 2_000_000
    assert (tmp_path / "play.js").stat().st_size < 40_000


def test_the_kernel_of_a_tab_does_not_carry_the_page(tmp_path):
    with zipfile.ZipFile(wheels.write_wheel(tmp_path, *wheels.project_wheel())) as packed:
        assert not [name for name in packed.namelist() if "playground" in name]


def test_without_the_front_end_it_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr(first_page, "SCRIPT", tmp_path / "play.js")
    with pytest.raises(LessonError, match="run `make setup`"):
        first_page.write_first_page(tmp_path)
