"""The cards of an opening without their widget: as HTML without scripts, and as text for a terminal."""

from __future__ import annotations

from html import escape
from typing import Any

from autograder.feedback.translate import say
from tfkit_lab.card_style import card_style
from tfkit_lab.prediction_card import CAME_OTHERWISE, CAME_TRUE
from tfkit_lab.recall.cards import ORDER, Card
from tfkit_lab.recall.opening import Opening

BADGE = "from before"
READ = "Read again:"
SKIPPED = "Skipped. If you want them after all, run this cell again."
SIGNS = {True: CAME_TRUE, False: CAME_OTHERWISE}


def style() -> str:
    """The style sheet of these cards."""
    return card_style("prediction.css", "recall/recall.css")


def bundle(opening: Opening, ended: bool = False, skipped: bool = False) -> dict[str, str]:
    """The opening as an output of a notebook. ended: only what was answered is shown; skipped: and that it was."""
    return {"text/html": html(opening, ended, skipped), "text/plain": text(opening, ended, skipped)}


def html(opening: Opening, ended: bool = False, skipped: bool = False) -> str:
    """The cards with what came of them, or how to answer them; all text is escaped."""
    places = range(len(opening.cards))
    rows = "".join(f"<li>{_item(opening, place)}</li>" for place in places if not ended or place in opening.results)
    notes = "".join(f"<p>{escape(note)}</p>" for note in _notes(opening, skipped))
    css = " ".join(line.strip() for line in style().splitlines())
    head = f'<div class="tfkit-v-head"><span class="tfkit-v-badge">{escape(say(BADGE))}</span></div>'
    listed = f'<ol class="tfkit-c-list">{rows}</ol>' if rows else ""
    return f'<style>{css}</style><div class="tfkit-verdict tfkit-predict tfkit-recall">{head}{notes}{listed}</div>'


def text(opening: Opening, ended: bool = False, skipped: bool = False) -> str:
    """The same as lines of text."""
    lines = [say(BADGE), *_notes(opening, skipped)]
    for place, card in enumerate(opening.cards):
        result = opening.results.get(place)
        if result is not None:
            options = [f"{option}  {mark}".rstrip() for option, mark in result["options"]]
            lines += [f"{place + 1}. {card.question['label']}",
                      *(f"     {row}" for row in [*card.code.splitlines(), *options]), f"   {_told(result)}",
                      *(f"     {row}" for row in [*result["key"].splitlines(), result["line"]] if row),
                      f"   {result['why']}", f"   {say(READ)} {result['place']}"]  # fmt: skip
        elif not ended:
            lines += [
                f"{place + 1}. {_asked(card)}",
                *(f"     {row}" for row in _rows(card)),
                f"   {call(place, card)}",
            ]
    return "\n".join(lines)


def call(place: int, card: Card) -> str:
    """The call that answers a card, with an answer as an example."""
    return f"recall.answer({place + 1}, {example(card)})"


def example(card: Card) -> str:
    """An answer that fits the question, as it is typed; that of lines in order, the one that is shown, is wrong."""
    asked = card.question
    count = asked.get("count") or len(asked.get("lines", []))
    if asked["kind"] in ("numbers", ORDER):
        return str([*range(1, count + 1)])
    if asked["kind"] == "mask":
        return str(["1" + "0" * (len(asked["columns"]) - 1)] * len(asked["rows"])).replace("'", '"')
    return {"number": "8", "shape": "[2, 3]", "choice": "[1, 2]" if asked.get("several") else "1"}[asked["kind"]]


def _notes(opening: Opening, skipped: bool) -> list[str]:
    return [note for note in (opening.note, say(SKIPPED) if skipped else "") if note]


def _told(result: dict[str, Any]) -> str:
    return f"{SIGNS[result['right']]} {result['told']}"


def _asked(card: Card) -> str:
    return f"{card.title}: {card.question['label']}" if card.title else str(card.question["label"])


def _item(opening: Opening, place: int) -> str:
    card, result = opening.cards[place], opening.results.get(place)
    if result is None:
        shown = "\n".join(_rows(card))
        return f"<p>{escape(_asked(card))}</p>{_code(shown)}{_code(call(place, card))}"
    told = f'<p class="tfkit-c-told">{escape(_told(result))}</p>{_code(result["key"])}{_code(result["line"])}'
    place_words = escape(result["place"])
    link = f'<a href="{escape(result["href"])}">{place_words}</a>' if result["href"] else place_words
    asked = f"<p>{escape(_asked(card))}</p>{_code(card.code)}{_marked(card, result)}"
    return f"{asked}{told}<p>{escape(result['why'])}</p><p>{escape(say(READ))} {link}</p>"


def _code(text: str) -> str:
    return f"<pre><code>{escape(text)}</code></pre>" if text else ""


def _marked(card: Card, result: dict[str, Any]) -> str:
    """The options, with what was chosen and what is right marked by words."""
    tag = "code" if card.has_lines else "span"
    rows = [f"<li><{tag}>{escape(option)}</{tag}>{f' <strong>{escape(mark)}</strong>' if mark else ''}</li>"
            for option, mark in result["options"]]  # fmt: skip
    return f'<ul class="tfkit-c-marked">{"".join(rows)}</ul>' if rows else ""


def _rows(card: Card) -> list[str]:
    """What belongs to a question beside its words, as rows of text: code, and what there is to choose from."""
    question = card.question
    rows = [*card.code.splitlines(), *card.before.splitlines()]
    if question["kind"] == ORDER:
        rows += [f"{number}: {line}" for number, line in enumerate(question["lines"], 1)]
    elif question["kind"] == "choice":
        rows += (
            question["options"] if card.is_fault else [f"{n}: {one}" for n, one in enumerate(question["options"], 1)]
        )
    elif question["kind"] == "mask":
        rows.append(f"{', '.join(question['rows'])} × {', '.join(question['columns'])}")
    return [*rows, *card.after.splitlines()]
