"""Lessons and hints in other languages, a gettext catalogue for each unit: `units/NAME/locale/fr.po`.

    python -m course.translate fr --unit 02-masks       # bring the catalogue up to date
    python -m course.translate es --new                 # start a language: every unit, and the texts of verdicts
    python -m course.build DIR --language fr            # the notebooks

A text is a paragraph, a list or a table of a notebook as it is built, the title of an exercise or a track, or the
sentence for a misconception. So a changed paragraph falls back to English by itself. Code stays as it is, with what it
prints and writes on axes (docs/decisions/course.md), but for the questions and options of a prediction. `make course`
holds catalogues to their units.
"""

from __future__ import annotations

import ast
import copy
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polib
from nbformat import NotebookNode

from autograder.diagnosis.diagnose import known_answers, student_sentence
from autograder.exercises.contracts import full_id, with_contract
from autograder.feedback.translate import OWN_FOLDER, catalogue
from course import all_exercises, units
from course.notebook import source_notebook
from course.settings import tracks
from tfkit_course.command_line import make_parser
from tfkit_lab.recall.cards import read_cards

NUMBER = re.compile(r"[\d.,]+")
BETWEEN = re.compile(r"(\n[ \t]*\n)")
FORMULA = re.compile(r"\s*\$\$.*\$\$\s*", re.DOTALL)
PREDICTED = re.compile(r'\bpredicted\("([^"]+)"\)')
OPAQUE = re.compile(
    "|".join(
        (
            r"```.*?```",
            r"<code>.*?</code>",
            r"(?<!`)``(?!`).+?(?<!`)``(?!`)",
            r"`[^`\n]+`",
            r"(?:\A|\n[ \t]*\n)(?: {4}|\t)[^\n]*(?:\n(?:[ \t]*\n)*(?: {4}|\t)[^\n]*)*",  # an indented block of code
            r"\$\$.+?\$\$",
            r"\$[^$\n]+\$",
            r"\$(?! )[^$\n]+\n[^$\n]+(?<! )\$(?!\d)",  # a formula on two lines; sums of money have a space inside
            r"\]\([^()\s]+\)",
            r"(?m:^)[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+(?=[:;!?])",  # the marker of a list's item that begins with a sign
        )
    ),
    re.DOTALL,
)
TIED_IN_FRENCH = re.compile(r"(?<=\S) (?=[:;!?](?:[\s<*_)|»\u00a0]|$))|(?<=[\d}]) (?=%(?![\d(]))|(?<=«) | (?=»)")
UNTRANSLATED = re.compile(
    r"`[^`\n]+`|\$\$.+?\$\$|\$[^$\n]+\$|\]\((?:#show:|(?!#))[^()\s]+|### (?:BEGIN|END) \w+ \w+", re.DOTALL
)


def texts(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """(location, text) of every translatable text of a built notebook."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for text in BETWEEN.split(str(cell.source))[::2]:
                if text.strip() and not FORMULA.fullmatch(text):
                    yield cell.id, str(text)
        elif _is_prediction(cell):
            yield from ((cell.id, text) for text in questions(cell))


def _options(cell: NotebookNode) -> list[str]:
    """The options in the inner calls of a prediction, after the question."""
    calls = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    (prediction,) = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "predict"]
    inner = [one for call in prediction.args[1:] if isinstance(call, ast.Call) for one in call.args[1:]]
    found = (node.value for one in inner for node in ast.walk(one) if isinstance(node, ast.Constant))
    return [text for text in found if isinstance(text, str)]


def _is_prediction(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("tfkit", {}).get("role") == "predict")


def questions(cell: NotebookNode) -> list[str]:
    """The questions and options of a prediction: the texts in its call, without its name."""
    found = (node.value for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Constant))
    name = cell.metadata.tfkit.prediction
    return [text for text in dict.fromkeys(found) if isinstance(text, str) and text != name]


def titles(unit: str) -> Iterator[tuple[str, str]]:
    """Where and what: the titles of a unit's exercises, which head their verdicts."""
    yield from ((exercise.id, exercise.title) for exercise in all_exercises() if exercise.unit == unit)


def contract_texts(unit: str) -> Iterator[tuple[str, str]]:
    """Where and what: how other contracts of a unit's exercises differ from the course's own."""
    for exercise in all_exercises():
        if exercise.unit == unit:
            yield from ((full_id(with_contract(exercise, one.name)), one.sentence) for one in exercise.contracts)


def track_titles(unit: str) -> Iterator[tuple[str, str]]:
    """Where and what: the titles of the tracks that a unit is in, which the lab's home page shows."""
    yield from ((f"track {one.name}", one.title) for one in tracks().values() if unit in one.units)


def card_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """(location, text) of what a unit's own cards ask and tell; cards on exercises have the autograder's words."""
    for card in read_cards(folder.name, folder):
        if not card.title:
            question = card.question
            sides = (question.get(side, []) for side in ("options", "rows", "columns"))
            names = [text for side in sides for text in side if not NUMBER.fullmatch(text)]
            yield from ((card.id, text) for text in (question["label"], card.why, *names))


def hints(unit: str) -> Iterator[tuple[str, str]]:
    """(location, text) of the sentences for the misconceptions of a unit."""
    for exercise in all_exercises():
        if exercise.unit == unit:
            for path in known_answers(exercise):
                yield f"{exercise.id}/{path.stem}", student_sentence(path)


def translate_notebook(notebook: NotebookNode, found: polib.POFile, language: str) -> NotebookNode:
    """The notebook with the catalogue's translations."""
    own = catalogue(OWN_FOLDER, language) or polib.POFile()  # of texts that only some courses have, as on points
    words = {entry.msgid: entry.msgstr for entry in (*own, *found) if entry.translated()}
    new = copy.deepcopy(notebook)
    new.metadata.tfkit["language"] = language
    titles, tracks = new.metadata.tfkit.get("titles", {}), new.metadata.tfkit.get("tracks", [])
    titles.update({name: words.get(title, title) for name, title in titles.items()})
    tracks[:] = [[name, words.get(title, title), count] for name, title, count in tracks]
    texts_of = {cell.metadata.tfkit.prediction: questions(cell) for cell in new.cells if _is_prediction(cell)}
    for cell in new.cells:
        if cell.cell_type == "markdown":
            parts: list[str] = BETWEEN.split(cell.source)
            cell.source = "".join(words.get(text, text) for text in parts)
        elif _is_prediction(cell):
            cell.source = _replaced(cell.source, texts_of[cell.metadata.tfkit.prediction], words)
        for name in PREDICTED.findall(cell.source):  # options are compared by their text
            cell.source = _replaced(cell.source, texts_of.get(name, []), words)
    return new


def _replaced(source: str, texts: list[str], words: dict[str, str]) -> str:
    """The code with these literals replaced; JSON's quotes are valid in Python."""
    for text in texts:
        old, new = (json.dumps(one, ensure_ascii=False) for one in (text, words.get(text, text)))
        source = source.replace(old, new)
    return source


def in_language(folder: Path, notebook: NotebookNode, language: str | None) -> NotebookNode:
    """The unit's notebook in `language`, as far as its catalogue is filled in; unchanged without a catalogue."""
    found = catalogue(folder, language) if language else None
    return notebook if found is None or language is None else translate_notebook(notebook, found, language)


def texts_to_translate(folder: Path, notebook: NotebookNode) -> dict[str, list[str]]:
    """Text -> its location, for the whole unit and its notebook."""
    found: dict[str, list[str]] = {}
    named = [*titles(folder.name), *track_titles(folder.name), *contract_texts(folder.name)]
    for where, text in [*texts(notebook), *named, *hints(folder.name), *card_texts(folder)]:
        found.setdefault(text, []).append(where)
    return found


def faults(folder: Path, language: str) -> Iterator[tuple[str, str]]:
    """(location, fault): texts missing from the catalogue, stale ones, and translations that lost code or formulas.

    A catalogue without any translation has no faults: its unit is not translated yet.
    """
    notebook = source_notebook(folder)
    found, texts = catalogue(folder, language), texts_to_translate(folder, notebook)
    if found is not None and not found.translated_entries():
        return
    have = {entry.msgid: entry for entry in found or ()}
    for text, (where, *_) in texts.items():
        if text not in have or not have[text].translated():
            yield where, f"{language}.po has no translation of {_short(text)}"
        elif (translation := have[text].msgstr) != tie_signs(translation, language):
            yield where, f"{language}.po has spaces that may break before a sign in {_short(text)}"
        elif lost := Counter(UNTRANSLATED.findall(text)) - Counter(UNTRANSLATED.findall(translation)):
            yield where, f"{language}.po loses {min(lost)} from {_short(text)}"
    for text in have.keys() - texts.keys():
        yield "-", f"{language}.po translates a text that the unit does not have (any more): {_short(text)}"
    for where, text in _fixed_options(notebook):
        if text in have and have[text].msgstr != text:
            yield (
                where,
                f"{language}.po changes {_short(text)}, which the code of a cell refers to: leave it unchanged",
            )


def _fixed_options(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """(location, text) of the options that must not be translated, because code refers to them.

    An f-string of the comparing cell gives them, or another cell compares with them, or looks something up by them.
    """
    predictions = [cell for cell in notebook.cells if _is_prediction(cell)]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code" and not _is_prediction(cell)]
    trees = [list(ast.walk(ast.parse(cell.source))) for cell in cells] if predictions else []
    for asking in predictions:
        for cell, nodes in zip(cells, trees, strict=True):
            if asking.metadata.tfkit.prediction in PREDICTED.findall(cell.source):
                calls = [
                    node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "compare"
                ]
                nodes = [node for call in calls for arg in call.args for node in ast.walk(arg)]
                known = [_pattern(node) for node in nodes if isinstance(node, ast.JoinedStr)]
            else:
                known = [re.escape(name) for node in nodes for name in _names(node)]
            yield from ((cell.id, text) for text in _options(asking) if any(re.fullmatch(one, text) for one in known))


def _names(node: ast.AST) -> Iterator[str]:
    """The texts that code uses as keys or compares with."""
    found: list[Any] = [getattr(node, "slice", None)]
    if isinstance(node, ast.Compare):
        found = [node.left, *node.comparators]
    elif isinstance(node, ast.Dict):
        found = node.keys
    yield from (one.value for one in found if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _pattern(text: ast.JoinedStr) -> str:
    return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in text.values)


def tie_signs(text: str, language: str) -> str:
    """Gives a text the spaces of its language: in French, those before `: ; ! ? %` and inside guillemets do not break.

    Code, formulas and addresses keep theirs.
    """
    if language != "fr":
        return text
    parts, begin = [], 0
    for found in [*OPAQUE.finditer(text), None]:
        end = found.start() if found else len(text)
        shown = "x" * min(begin, 1) + text[begin:end]  # a sign may stand right behind code
        parts += [TIED_IN_FRENCH.sub("\u00a0", shown)[min(begin, 1) :], found[0] if found else ""]
        begin = found.end() if found else end
    return "".join(parts)


def _short(text: str) -> str:
    return repr(text if len(text) < 50 else text[:49] + "…")


def update(folder: Path, language: str) -> polib.POFile:
    """Update the unit's catalogue: existing texts keep their translation, new ones have none, stale ones are
    removed."""
    found = texts_to_translate(folder, source_notebook(folder))
    return _write(folder, language, {text: ", ".join(places) for text, places in found.items()})


def update_verdicts(language: str) -> polib.POFile:
    """The same for the texts of verdicts in `autograder/locale`: those in any catalogue there."""
    known = [entry.msgid for path in sorted((OWN_FOLDER / "locale").glob("*.po")) for entry in polib.pofile(str(path))]
    return _write(OWN_FOLDER, language, dict.fromkeys(known, ""))


def _write(folder: Path, language: str, texts: dict[str, str]) -> polib.POFile:
    before = {entry.msgid: tie_signs(entry.msgstr, language) for entry in catalogue(folder, language) or ()}
    new = polib.POFile(wrapwidth=110)
    new.metadata = {"Language": language, "MIME-Version": "1.0", "Content-Type": "text/plain; charset=UTF-8",
                    "Content-Transfer-Encoding": "8bit"}  # fmt: skip
    for text, where in texts.items():
        new.append(polib.POEntry(msgid=text, msgstr=before.get(text, ""), comment=where))
    path = folder / "locale" / f"{language}.po"
    path.parent.mkdir(exist_ok=True)
    new.save(str(path))
    return new


def main(arguments: list[str] | None = None) -> int:
    """The command line; 0 when every text has its translation."""
    parser = make_parser(
        "course.translate",
        """
        Bring the gettext catalogues of the units up to date: new texts are added without a translation, texts that no
        longer exist are removed, and translations are kept.
        """,
        exits={0: "every text has a translation", 1: "some texts have none, or the request cannot be carried out"},
        examples=(
            "python -m course.translate fr",
            "python -m course.translate es --new",
        ),
    )
    parser.add_argument("language", metavar="CODE", help="the language's code in gettext: fr, de, pt")
    parser.add_argument(
        "--unit", action="append", metavar="NAME", help="only this unit; by default all that have a catalogue"
    )
    parser.add_argument(
        "--new", action="store_true", help="start a language: catalogues for all units and for verdicts"
    )
    options = parser.parse_args(arguments)
    if not re.fullmatch("[a-z]{2,3}", options.language):
        parser.exit(
            1, f"course.translate: {options.language!r} is not a language code; write two or three letters: fr, de\n"
        )
    folders = {folder.name: folder for folder in units()}
    if unknown := [name for name in options.unit or () if name not in folders]:
        parser.exit(1, f"course.translate: no unit is called {unknown[0]!r}; available: {', '.join(folders)}\n")
    begun = [name for name, folder in folders.items() if options.new or catalogue(folder, options.language)]
    if not (names := options.unit or begun):
        way = "name one with --unit, or start all of them with --new"
        parser.exit(1, f"course.translate: no unit has a catalogue for {options.language!r}; {way}\n")
    made = {name: (update(folders[name], options.language), folders[name]) for name in names}
    if options.new:
        made["verdicts"] = (update_verdicts(options.language), OWN_FOLDER)
    for name, (found, folder) in made.items():
        done = len(found.translated_entries())
        print(f"{name}: {done} of {len(found)} texts have a translation ({folder}/locale/{options.language}.po)")
    return 1 if any(len(found.translated_entries()) < len(found) for found, _ in made.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
