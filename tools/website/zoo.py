"""A page for each architecture: its description, its relatives, its anatomy, its code on one page."""

from __future__ import annotations

import hashlib
import html
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from tfkit import family, registry
from tfkit.tools.anatomy import Row, parts
from tfkit.tools.read import page
from tools.website import DOCS, ROOT, parity
from tools.website.book import fence, raw

FIELDS = ("Parent", "Differs", "Trained")
OBJECTIVE = re.compile(r"\bobjectives\.((?:\w|\\_)+)")  # after Markdown's characters were escaped
ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5}|[a-z-]+/\d{7})")
DEPTH = 3  # of the tree of modules
SMALL, PUBLISHED = "A small model", "The published size"


@lru_cache(maxsize=1)
def docstrings() -> dict[str, str]:
    """Architecture -> its file's docstring."""
    sources = registry.sources()
    return {name: doc for name, doc in family.docstrings().items() if sources[name].startswith("tfkit.models")}


def parents() -> dict[str, str | None]:
    """Architecture -> its parent, None for the first."""
    named = {name: family.parent(doc) for name, doc in docstrings().items()}
    return {name: its if its in named else None for name, its in named.items()}


def children(name: str | None) -> list[str]:
    """The architectures whose parent it is."""
    return [child for child, its in parents().items() if its == name]


def title(name: str) -> str:
    """The name of the architecture, from the first words of its file."""
    first = docstrings()[name].partition("\n")[0]
    return re.split(r" \(|: |, |\. ", first)[0].strip().rstrip(".")


def ancestors(name: str) -> list[str]:
    """From the first of the family to the parent."""
    its = parents()[name]
    return [*ancestors(its), its] if its else []


def description(name: str) -> str:
    """The docstring: its first sentence, its fields as a list, the rest; papers on arXiv as links."""
    paragraphs: list[str] = []
    for paragraph in re.split(r"\n\s*\n", docstrings()[name]):
        rows = re.split(rf"(?m)^(?=(?:{'|'.join(FIELDS)}) )", paragraph)
        for row in filter(None, map(str.strip, rows)):
            field, _, rest = row.partition(" ")
            words = _link_papers(re.sub(r"\s+", " ", rest if field in FIELDS else row))
            paragraphs.append(f"**{field}.** {_link_objectives(words)}" if field in FIELDS else words)
    return "\n\n".join(paragraphs)


def _link_objectives(words: str) -> str:
    """The words, with each module of `tfkit.objectives` as a link to its page in the API reference."""

    def link(found: re.Match[str]) -> str:
        module = found[1].replace("\\", "")
        page = f"../api/tfkit/objectives/{module}.html"
        known = (ROOT / "tfkit" / "objectives" / f"{module}.py").exists()
        return f'<a href="{page}"><code>objectives.{module}</code></a>' if known else f"`objectives.{module}`"

    return OBJECTIVE.sub(link, words)


def _link_papers(words: str) -> str:
    plain = re.sub(r"([*_<>$|])", r"\\\1", words) if "`" not in words else words
    return ARXIV.sub(r"[arXiv:\1](https://arxiv.org/abs/\1)", plain)


def anatomy(name: str, kept: Path) -> list[Row]:
    """The rows of `tfkit anatomy`. No weights are allocated, but the largest models take seconds, so rows are cached in
    a file of the folder `kept` until a file of the library's models or layers changes."""
    file = kept / f"{name}-{_version()}.json"
    if file.exists():
        return [Row(*row) for row in json.loads(file.read_text(encoding="utf-8"))]
    from tfkit.hub import from_config
    from tfkit.hub.loading import shapes_only

    with shapes_only():
        model = from_config(name)
    rows = list(parts(type(model).__name__, model, DEPTH))
    kept.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(rows), encoding="utf-8")
    return rows


@lru_cache(maxsize=1)
def _version() -> str:
    files = sorted(file for part in ("models", "nn") for file in (ROOT / "tfkit" / part).rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _anatomy_table(rows: list[Row]) -> str:
    lines = []
    for title, count, kind, shapes in rows:
        indent = (len(title) - len(title.lstrip())) * 0.55 + 0.4
        lines.append(
            f"<tr><th scope=row style='padding-left:{indent:.2f}em'>{html.escape(title.strip())}</th>"
            f"<td>{count:,}</td><td>{kind}</td><td>{html.escape(shapes)}</td></tr>"
        )
    head = "<thead><tr><th>module</th><th>parameters</th><th>class</th><th>weights</th></tr></thead>"
    table = f'<table class="site-anatomy">{head}<tbody>{"".join(lines)}</tbody></table>'
    return raw(f'<div class="table-wrapper">{table}</div>')


def benchmark_tables(name: str) -> list[str]:
    """Its rows in the benchmarks, small models and published sizes apart; a table each, without those it is not in, and
    without columns that are empty for it."""
    found: dict[str, list[str]] = {SMALL: [], PUBLISHED: []}
    lines, section = (DOCS / "benchmarks.md").read_text(encoding="utf-8").splitlines(), SMALL
    at = next(index for index, line in enumerate(lines) if line.startswith("|  | tokens |"))
    heads, table = lines[at : at + 2], ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("## "):
            section = PUBLISHED if line == "## Published sizes" else SMALL
        elif following.startswith("|---"):
            table = line
        elif line.startswith(f"| {name} |") and table.split() == heads[0].split():  # other tables have names too
            found[section].append(line)
    return [f"{size}:\n\n" + "\n".join(_without_empty(heads, rows)) for size, rows in found.items() if rows]


def _without_empty(heads: list[str], rows: list[str]) -> list[str]:
    """The lines of a Markdown table, without the columns in which every row is empty."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in [*heads, *rows]]
    kept = [index for index in range(len(cells[0])) if any(row[index] for row in cells[2:])]
    return ["| " + " | ".join(row[index] for index in kept) + " |" for row in cells]


def claims(name: str) -> list[str]:
    """The names of the claims whose files build or mention the architecture."""
    folder = ROOT / "research" / "claims"
    mention = re.compile(rf"[\"']{name}[\"']|models\.{name}\b|import {name}\b")
    return [file.stem for file in sorted(folder.glob("[!_]*.py")) if mention.search(file.read_text(encoding="utf-8"))]


def readable(identifier: str) -> str:
    """A claim's name as it is read: `soft_targets` -> soft targets."""
    return identifier.replace("_", " ")


def presets(name: str) -> list[str]:
    """Its published sizes."""
    module: Any = registry.load(name)
    return list(getattr(module, "PRESETS", {}))


def write_page(name: str, kept: Path | None = None) -> str:
    """The page of one architecture, in MyST; without its anatomy if no cache folder is given."""
    text = [f"# {title(name)}", description(name)]
    text.append("## In the family\n\n" + _family(name))
    if sizes := presets(name):
        text.append("## Published sizes\n\n" + " · ".join(f"`{size}`" for size in sizes))
    text.append(f"## Against transformers\n\n{parity.section(name, parity.load())}")
    if tables := benchmark_tables(name):
        text.append(
            "## Measured\n\nThe same weights in transformers and here; time or memory of transformers over "
            "that of tfkit, above 1 is better ([how it was measured](../library/benchmarks.md)).\n\n"
            + "\n\n".join(tables)
        )
    if tried := claims(name):
        run = set(re.findall(r"^#+ (\w+)$", (DOCS / "reproductions.md").read_text(encoding="utf-8"), re.M))
        links = {claim: f"[{readable(claim)}](../library/reproductions.md#{claim})" for claim in run}
        linked = ", ".join(links.get(claim, f"{readable(claim)} (not run yet)") for claim in tried)
        text.append(f"## Claims of the papers, tried at small scale\n\n{linked}")
    if kept is not None:
        caption = f"Modules, parameters and shapes, as `tfkit anatomy {name}` prints them."
        text.append(f"## Anatomy\n\n{caption}\n\n{_anatomy_table(anatomy(name, kept))}")
    caption = (
        f"`tfkit read {name}`: the architecture as one would write it to understand it. It runs alone, with torch, and "
        "loads the model's own weights; the tests hold outputs and gradients of both together."
    )
    text.append(f"## On one page\n\n{caption}\n\n{fence(page(name))}")
    return "\n\n".join(text) + "\n"


def _family(name: str) -> str:
    way = [f"[{title(its)}]({its}.md)" for its in ancestors(name)] + [f"**{title(name)}**"]
    lines = [" → ".join(way)]
    if its := parents()[name]:
        lines.append(f"`tfkit diff {its} {name}` shows what changes, on the page and in the model.")
    if found := children(name):
        rows = "\n".join(f"- [{title(child)}]({child}.md): {_first_difference(child)}" for child in found)
        lines.append(f"Architectures that build on it:\n\n{rows}")
    return "\n\n".join(lines)


def _first_difference(name: str) -> str:
    return _link_papers(family.differs(docstrings()[name]))


def index() -> str:
    """The zoo's first page: the tree of all architectures, each with its first difference."""
    names = sorted(docstrings())

    def branch(name: str) -> str:
        below = "".join(map(branch, children(name)))
        summary = html.escape(family.differs(docstrings()[name]).replace("`", ""))
        below = f"<ul>{below}</ul>" if below else ""
        return f'<li><a href="{name}.html">{html.escape(title(name))}</a> <span>{summary}</span>{below}</li>'

    tree = f'<ul class="site-tree">{"".join(map(branch, children(None)))}</ul>'
    toc = "```{toctree}\n:hidden:\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```"
    return (
        f"# The zoo\n\n{len(names)} architectures, from the recurrent network with attention to the decoders of today. "
        "Each is a file that says in its first lines what differs from its parent; they load the published "
        "checkpoints and give their numbers. The tree shows the parent of each, and what it changes.\n\n"
        f"{raw(tree)}\n\n{toc}\n"
    )
