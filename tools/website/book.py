"""A unit of the course as a page of a book: the released notebook with the outputs of its cells."""

from __future__ import annotations

import ast
import copy
import html
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from course.notebook import CHECK_IMPORT, source_notebook
from course.pointing import POINTER, SCHEME
from course.settings import Unit
from course.translate import in_language
from tools.website import outputs, views

STUB = "# your code here\nraise NotImplementedError"
LONG = 24  # cells with more lines are folded
WORDS = {
    "en": {
        "exercise": "Your turn", "check": "In the notebook, **Check** (or `check(\"{id}\")`) says what is right.",
        "project": "Your project", "measured": "No reference decides here: the text says how it is measured.",
        "predict": "Predict, before you read on", "shown": "What comes out", "code": "The code ({lines} lines)",
        "task": "In words", "figure": "A figure; it is told in words below",
    },
    "fr": {
        "exercise": "À vous", "check": "Dans le notebook, **Check** (ou `check(\"{id}\")`) dit ce qui est juste.",
        "project": "Votre projet", "measured": "Aucune référence ne décide ici : le texte dit comment on mesure.",
        "predict": "Prédisez, avant de lire la suite", "shown": "Ce qui en sort", "code": "Le code ({lines} lignes)",
        "task": "En quelques mots", "figure": "Une figure ; elle est décrite en mots plus bas",
    },
}  # fmt: skip


def release_notebook(folder: Path, unit: Unit, language: str) -> NotebookNode:
    """The notebook of a unit as nbgrader releases it: without solutions and mark schemes."""
    made = in_language(folder, source_notebook(folder, unit), language)
    return clear_notebook(made)


def clear_notebook(notebook: NotebookNode) -> NotebookNode:
    """A source notebook after the preprocessors that remove what students must not see."""
    from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions

    for clear in (ClearSolutions(code_stub={"python": STUB}), ClearHiddenTests(), ClearMarkScheme()):
        notebook, _ = clear.preprocess(copy.deepcopy(notebook), {})
    return notebook


@cache
def source_cells(folder: Path) -> dict[str, NotebookNode]:
    """The English source notebook's cells by their ids: outputs are stored for these."""
    return {cell.id: cell for cell in source_notebook(folder).cells}


class Page:
    """Writes one unit's MyST page; `kinds` collects the kinds of its views."""

    def __init__(self, folder: Path, unit: Unit, language: str, pictures: Path, root: str):
        self.folder, self.unit, self.language, self.pictures, self.root = folder, unit, language, pictures, root
        self.words = WORDS.get(language, WORDS["en"])
        self.kinds: set[str] = set()
        self.unknown = 0  # cells whose outputs are not known, or are of an earlier version

    def text(self) -> str:
        """The whole page."""
        notebook = release_notebook(self.folder, self.unit, self.language)
        found = list(filter(None, map(self._cell, notebook.cells)))
        if self.kinds and any(SCHEME in part for part in found):
            found.append(raw(views.pointing(self.root)))
        return "\n\n".join(found) + "\n"

    def _cell(self, cell: NotebookNode) -> str:
        role = cell.metadata.get("tfkit", {}).get("role")
        if cell.cell_type == "markdown":
            return self._markdown(cell, role)
        if role == "check":
            return ""
        if role == "exercise":
            name = cell.metadata.tfkit.exercise
            return callout(
                f"{self.words['exercise']}: `{name}`",
                f"{fence(cell.source)}\n\n{self.words['check'].format(id=name)}",
                "site-exercise",
                anchor=name.replace(".", "-"),
            )
        if role == "project":
            name = cell.metadata.nbgrader.grade_id.removeprefix("project-")
            body = f"{fence(cell.source)}\n\n{self.words['measured']}"
            return callout(f"{self.words['project']}: `{name}`", body, "site-exercise", anchor=cell.id)
        if role == "predict":
            return callout(self.words["predict"], prediction(cell.source), "site-predict")
        if cell.source.strip() == CHECK_IMPORT:
            return ""
        return "\n\n".join([self._code(cell), *self._output_blocks(cell)])

    def _markdown(self, cell: NotebookNode, role: str | None) -> str:
        if cell.id.startswith("answer-"):
            return ""
        text = re.sub(r"\]\(#([^)]+)\)", lambda link: f"](#{link[1].lower()})", phrases_as_html(cell.source))
        if role == "task":
            return callout(self.words["task"], re.sub(r"(?m)^#+ +(.+)$", r"**\1**", text).strip(), "site-task")
        return text

    def _code(self, cell: NotebookNode) -> str:
        lines = cell.source.count("\n") + 1
        if lines <= LONG and cell.metadata.tfkit.role != "setup":
            return fence(cell.source)
        return fold(self.words["code"].format(lines=lines), fence(cell.source))

    def _output_blocks(self, cell: NotebookNode) -> list[str]:
        source = source_cells(self.folder).get(cell.id)
        if source is None:
            return []
        found = outputs.outputs_of(self.folder.name, source)
        if found is None:
            self.unknown += cell.id in outputs.load_outputs(self.folder.name)
            return []
        parts = [self._output(output, f"{cell.id}-{index}") for index, output in enumerate(found)]
        if "predicted(" in cell.source:  # folded, so that readers can predict first
            return [fold(self.words["shown"], "\n\n".join(parts))]
        return parts

    def _output(self, output: dict[str, Any], name: str) -> str:
        if "view" in output:
            self.kinds.add(output["view"]["trace"]["kind"])
            return raw(views.view(output["view"], name, self.root, self.language))
        if "image" in output:
            self.pictures.mkdir(parents=True, exist_ok=True)
            file = f"{self.folder.name}.{output['image']}"
            shutil.copy(outputs.FOLDER / self.folder.name / output["image"], self.pictures / file)
            return f"```{{image}} {self.root}_pictures/{file}\n:alt: {self.words['figure']}\n:class: site-figure\n```"
        if "markdown" in output:
            return str(output["markdown"])
        return fence(output["text"], "text", "site-output")


def phrases_as_html(text: str) -> str:
    """Markdown with its phrases that point as HTML's links: Sphinx would look for a heading behind Markdown's."""
    while link := POINTER.search(text):
        begin = _bracket_before(text, link.start())
        anchor = f'<a href="{html.escape(link[1])}">{text[begin + 1 : link.start()]}</a>'
        text = text[:begin] + anchor + text[link.end() :]
    return text


def _bracket_before(text: str, end: int) -> int:
    """The place of the bracket that the one at `end` closes: a phrase may have others, as in `[Q,K]`."""
    still_open, place = 1, end
    while still_open:
        place -= 1
        still_open += (text[place] == "]") - (text[place] == "[")
    return place


def fence(text: str, language: str = "python", css: str = "") -> str:
    """A MyST code block, whose fence is longer than any in the text."""
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{ticks}{{code-block}} {language}\n" + (f":class: {css}\n" if css else "") + f"\n{text}\n{ticks}"


def callout(title: str, body: str, css: str, anchor: str = "") -> str:
    """An admonition with a title."""
    mark = f"({anchor})=\n" if anchor else ""
    return f"{mark}:::::{{admonition}} {title}\n:class: {css}\n\n{body}\n:::::"


def fold(title: str, body: str) -> str:
    """A block that opens by a click; works without scripts."""
    begin = raw(f'<details class="site-fold"><summary>{title}</summary>')
    return f"{begin}\n\n{body}\n\n{raw('</details>')}"


def raw(text: str) -> str:
    """Raw HTML for the page."""
    return f"``````{{raw}} html\n{text}\n``````"


def prediction(source: str) -> str:
    """The questions of a cell `predict("…", predict.choice("…", …), …)`, as a list."""
    call = next(
        node for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "predict"
    )  # fmt: skip
    lines = []
    for part in call.args[1:]:
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            values = [str(argument.value) for argument in part.args if isinstance(argument, ast.Constant)]
            question, choices = values[0], values[1:] if part.func.attr == "choice" else []
            lines.append(f"- {question}" + "".join(f"\n  - {choice}" for choice in choices))
    return "\n".join(lines)
