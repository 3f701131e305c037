"""Mistakes of a class that nothing explains: for each its smallest counter-example, and code side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from autograder.feedback.html import verdict_html
from autograder.feedback.page import document
from autograder.feedback.text import count_text, plain, verdict_text
from autograder.report.similar_page import STYLE
from autograder.report.unexplained import Cluster, UnexplainedAnswer

MAX_ANSWERS = 4  # answers of a cluster whose code is shown
NOTE = """<p>Wrong answers that behave like none of the collected mistakes, and for which no kind of mistake is known.
Answers that give the same results for the same inputs are in one group: most often they share one misconception,
written in several ways. If you recognise it, describe it in one sentence; from then on every answer that behaves like
this gets that sentence in its verdict.</p>"""


def page(assignments: Sequence[str], found: Sequence[Cluster], course: str) -> str:
    """The whole page. `course`: its directory, as in the commands."""
    answers = sum(len(one.members) for one in found)
    counts = f"{count_text(answers, 'answer')} in {count_text(len(found), 'group')}"
    lead = f"<p>{counts}.</p>" if found else "<p>Every wrong answer is explained.</p>"
    body = "".join(_section(one, course) for one in found)
    return document(f"{', '.join(assignments)}: unexplained mistakes", lead + NOTE * bool(found) + body, STYLE)


def _section(one: Cluster, course: str) -> str:
    command = f"autograder misconceptions {course} {one.members[0].assignment} --name {one.id} 'One sentence.'"
    return (
        f'<section id="{escape(one.id)}"><h2><code>{escape(one.id)}</code>: {escape(who(one))}</h2>'
        f'{verdict_html(one.members[0].verdict)}<div class="two">{"".join(_code(each) for each in _shown(one))}</div>'
        f"<p>To name it: <code>{escape(command)}</code></p></section>\n"
    )


def who(one: Cluster) -> str:
    """`3 students: ada, ben, chen`."""
    names = list(dict.fromkeys(each.student for each in one.members))
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{count_text(len(names), 'student')}: {', '.join(names[:8])}{more}"


def _shown(one: Cluster) -> Iterator[UnexplainedAnswer]:
    """The shortest answers with different code."""
    seen: dict[str, UnexplainedAnswer] = {}
    for each in one.members:
        seen.setdefault(each.code, each)
    yield from list(seen.values())[:MAX_ANSWERS]


def _code(one: UnexplainedAnswer) -> str:
    name = escape(one.student)
    return f'<div>{name}<pre tabindex="0" role="group" aria-label="{name}\'s answer">{escape(one.code)}</pre></div>'


def terminal(one: Cluster) -> RenderableType:
    """The same for a terminal."""
    head = Text(f"{one.id} · {plain(who(one))}", style="bold")
    data = one.members[0].verdict.as_json()
    card = Text("\n".join(verdict_text(data).splitlines()[1:]))
    codes = [Panel(Text(plain(each.code)), title=Text(plain(each.student)), expand=False) for each in _shown(one)]
    return Group(head, card, Columns(codes), Text(""))
