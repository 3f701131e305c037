"""The similarity report: pairs of answers side by side, for a person who decides what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from autograder.feedback.page import document, histogram, row_head, table
from autograder.report.similar import MIN_SHARE, KnownAnswerMatch, Match, SimilarityReport, SimilarPair

MAX_PAIRS = 50  # pairs whose code is on the page
STYLE = """
.two{display:grid;grid-template-columns:1fr 1fr;gap:1rem}.two>div{min-width:0}
pre{overflow-x:auto;border:1px solid var(--tfk-line);border-radius:var(--tfk-r2);background:var(--tfk-card);
padding:.6rem;font-size:.85rem;line-height:1.4;margin:.3rem 0 1rem}
mark{background:var(--tfk-wait-soft);color:inherit;border-left:4px solid var(--tfk-wait);padding-left:.3rem;
forced-color-adjust:none}
pre mark{display:inline-block;min-width:95%}
summary{cursor:pointer;padding:.3rem 0}h3{margin:1rem 0 0}
@media(max-width:50rem){.two{grid-template-columns:1fr}}
"""
NOTE = """<p>The structure of the code is compared. Names, comments, layout, docstrings and the released stub are
ignored, and code that many students wrote counts for little. So two answers are listed if they share <em>code that is
rare in this class</em>. This does not say why: a shared textbook, a tutorial, pair work and a copy look the same. Read
both answers before you speak to anyone. In a class of fewer than ten the list means little. The <mark>marked</mark>
lines are those that both answers have.</p>"""
EVIDENCE = "Strongest first. Evidence: all code that the two share, weighted by how few students have it (in nats)."
OPERATIONS_NOTE = """Answers to two exercises or more that perform the same tensor operations, each as often, while few
other students do. Renamed variables, helper functions and reordered lines do not hide this. But students with the same
idea perform the same operations, so by itself this means less than the list above. Both answers are shown below."""


KNOWN_NOTE = """Answers of ten lines and more with the structure of code that comes with the course: the library's own
code, which every student has installed, or a collected right answer. Others: how many other students wrote the same. If
they are many, it is simply the usual way to write it. No mark depends on this."""


def page(
    assignment: str,
    answers: Mapping[str, Mapping[str, str]],
    found: SimilarityReport,
    same: list[SimilarPair] | None = None,
    known: Sequence[KnownAnswerMatch] = (),
) -> str:
    """The whole page. `same`: pairs that run the same operations, if the answers were run; `known`: answers that
    equal a known one."""
    parts = [NOTE, _pairs("Pairs", EVIDENCE, "pair", found.pairs)]
    parts += [] if same is None else [_pairs("The same operations", OPERATIONS_NOTE, "run", same)]
    parts += [_known(known), _nearest(found), _unreadable(found)]
    for kind, pairs in (("pair", found.pairs), ("run", same or [])):
        parts += [_code(f"{kind}-{number}", pair, answers) for number, pair in enumerate(pairs[:MAX_PAIRS], 1)]
    lead = f"<p>{len(answers)} students; pairs alike in {MIN_SHARE:.0%} or more of an answer: {len(found.pairs)}.</p>"
    return document(f"{assignment}: similar answers", lead + "".join(parts), STYLE)


def _pairs(title: str, note: str, kind: str, pairs: list[SimilarPair]) -> str:
    if not pairs:
        return f"<h2>{title}</h2><p>None.</p>"
    rows = []
    for number, pair in enumerate(pairs, 1):
        names = escape(" and ".join(pair.students))
        name = f'<a href="#{kind}-{number}">{names}</a>' if number <= MAX_PAIRS else names
        cells = ", ".join(f"<code>{escape(match.cell)}</code>{_share(match)}" for match in pair.matches)
        rows.append(f'<tr><th scope="row">{name}</th><td class="text">{cells}</td><td>{pair.evidence:.0f}</td></tr>')
    head = '<th scope="col">Students</th><th scope="col" class="text">Alike in</th><th scope="col">Evidence</th>'
    return table(title, note, head, rows)


def _known(known: Sequence[KnownAnswerMatch]) -> str:
    """The section on known answers; empty if there are none."""
    if not known:
        return ""
    rows = [f'<tr>{row_head(one.student)}<td class="text"><code>{escape(one.cell)}</code></td>'
            f'<td class="text">{escape(one.name)}</td><td>{one.share:.0%}</td><td>{one.others}</td></tr>'
            for one in known]  # fmt: skip
    head = (
        '<th scope="col">Student</th><th scope="col" class="text">Cell</th><th scope="col" class="text">Like</th>'
        '<th scope="col">Alike</th><th scope="col">Others</th>'
    )
    return table("Like a known answer", KNOWN_NOTE, head, rows)


def _nearest(found: SimilarityReport) -> str:
    counts = [0] * 5
    for share in found.nearest.values():
        counts[min(int(share * 5), 4)] += 1
    note = "Students by the rare part of an answer that the most similar classmate shares."
    return histogram("Nearest", note, "Shared with the nearest", counts)


def _unreadable(found: SimilarityReport) -> str:
    if not found.unreadable:
        return ""
    rows = [f"<tr>{row_head(student)}<td class=\"text\"><code>{escape(cell)}</code></td></tr>"
            for student, cell in found.unreadable]  # fmt: skip
    head = '<th scope="col">Student</th><th scope="col" class="text">Cell</th>'
    return table("Not compared", "Code that does not parse.", head, rows)


def _code(place: str, pair: SimilarPair, answers: Mapping[str, Mapping[str, str]]) -> str:
    parts = "".join(_match(match, pair, answers) for match in pair.matches)
    names = escape(" and ".join(pair.students))
    number = place.rpartition("-")[2]
    return f'<section id="{place}"><h2>{number}. {names}</h2>{parts}</section>\n'


def _match(match: Match, pair: SimilarPair, answers: Mapping[str, Mapping[str, str]]) -> str:
    sides = "".join(
        f'<div>{escape(student)}<pre tabindex="0" role="group" aria-label="{escape(student)}\'s answer">'
        f"{chr(10).join(_lines(answers[student][match.cell], lines))}</pre></div>"
        for student, lines in zip(pair.students, match.lines, strict=True)
    )
    how = f"{_share(match)} alike" if any(match.lines) else " the same operations"
    title = f"<code>{escape(match.cell)}</code>:{how}, evidence {match.evidence:.0f}"
    return f'<h3>{title}</h3><div class="two">{sides}</div>'


def _share(match: Match) -> str:
    return f" {match.share:.0%}" if any(match.lines) else ""


def _lines(source: str, shared: frozenset[int]) -> Iterator[str]:
    for number, line in enumerate(source.splitlines(), 1):
        yield f"<mark>{escape(line)}</mark>" if number in shared and line.strip() else escape(line)
