"""The class report: one HTML file without scripts, images or external resources, with a light and a dark theme.

It speaks the reader's language; titles, names of checks and hints are as the verdicts have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from statistics import mean, median

from autograder.cluster.history import Verification
from autograder.cluster.scores import Scores
from autograder.feedback.page import document, histogram, row_head, table
from autograder.feedback.translate import language, say
from autograder.feedback.words import places
from autograder.report.attempts import FullMarks
from autograder.report.group import PASSED_BY, SHARED_BY, ExerciseSummary, Verdicts, exercises, share
from autograder.report.items import CheckStatistics, check_items

KINDS = {"full": "full marks", "part": "part", "none": "none", "open": "not graded"}


class Titles(dict[str, str]):
    """Exercise -> its title, as the verdicts say it; an exercise whose verdicts are older than titles has its id."""

    def __missing__(self, exercise: str) -> str:
        return exercise


def page(
    assignment: str,
    students: Sequence[Verdicts],
    ways: Sequence[FullMarks] = (),
    scores: Scores | None = None,
    verified: Sequence[Verification] = (),
) -> str:
    """The whole page. `ways`: the attempts until full marks, if recorded; `scores`: those in the gradebook; `verified`:
    the comparisons with a second grading, by time."""
    found, titles = exercises(students), _titles(students)
    told = say("{count} graded submissions, as the autograder marked them; people’s marks and lateness are in the "
               "totals alone.", count=len(students))  # fmt: skip
    lead = f"<p>{told} {_verified(verified)}</p>\n"
    parts = [lead, _reteach(found, titles), _outcomes(found, titles), _shares(students), _totals(scores)]
    parts += [_items(check_items(students), titles), _ways(ways, titles), _ideas(found, titles), _not_run(students)]
    title = say("{assignment}: how the class did", assignment=assignment)
    return document(title, "".join(parts), language=language())


def _titles(students: Sequence[Verdicts]) -> Titles:
    return Titles({name: verdict["title"] for one in students for name, verdict in one.items() if verdict.get("title")})


def _verified(found: Sequence[Verification]) -> str:
    if not found:
        return say("<code>autograder verify</code> grades a sample again, and names every difference.")
    days = list(dict.fromkeys(_day(one) for one in (found[0], found[-1])))
    equal, verdicts = sum(one.equal for one in found), sum(one.verdicts for one in found)
    when = say("{first} to {last}", first=days[0], last=days[-1]) if len(days) > 1 else days[0]
    told = [say("{equal} of {count} verdicts were equal when graded again ({when}).", equal=equal, count=verdicts,
                when=when)]  # fmt: skip
    told += [
        say("{different} of {count} differed on {day}.", different=one.verdicts - one.equal, count=one.verdicts,
            day=_day(one))
        for one in found if one.equal < one.verdicts
    ]  # fmt: skip
    return " ".join(told)


def _day(one: Verification) -> str:
    return f"{one.at.astimezone():%Y-%m-%d}"


def _reteach(found: Sequence[ExerciseSummary], titles: Titles) -> str:
    weak = sorted((one for one in found if one.reteach), key=lambda one: one.full / one.graded)
    rule = say("Fewer than {few} % have full marks, or more than {many} % share one misconception.",
               few=round(100 * PASSED_BY), many=round(100 * SHARED_BY))  # fmt: skip
    items = []
    for one in weak:
        most = f" {say('Most common: {name}.', name=_idea(one))}" if one.misconceptions else ""
        title = f"{escape(titles[one.name])} " if one.name in titles else ""
        items.append(
            "<li>"
            + say(
                "{exercise}: {full} of {count} have full marks.",
                exercise=f"{title}<code>{escape(one.name)}</code>",
                full=one.full,
                count=one.graded,
            )
            + f"{most}</li>\n"
        )
    body = f"<ol>{''.join(items)}</ol>" if items else f"<p>{say('Nothing, by this rule.')}</p>"
    return f"<h2>{say('What to teach again')}</h2><p>{rule}</p>{body}\n"


def _idea(one: ExerciseSummary) -> str:
    idea = one.misconceptions[0]
    return f"<em>{escape(idea.name.replace('_', ' '))}</em> ({idea.students})"


def _outcomes(found: Sequence[ExerciseSummary], titles: Titles) -> str:
    keys = "".join(f'<th scope="col"><span class="key {kind}"></span>{say(word)}</th>' for kind, word in KINDS.items())
    rows = []
    for one in found:
        counts = (one.full, one.part, one.none, one.not_graded)
        cells = "".join(f"<td>{count}</td>" for count in counts)
        rows.append(f"<tr>{row_head(titles[one.name])}<td>{_bar(counts)}</td>{cells}{_power(one.discrimination)}</tr>")
    note = say(
        "Students by outcome. Discrimination is the point-biserial correlation (−1 to 1) of full marks here with the "
        "marks of the other exercises: below 0.2 the exercise hardly separates strong from weak students, below 0 "
        "check the exercise. It means little in a class of fewer than about 30; – if all had the same outcome."
    )
    head = (
        f'<th scope="col">{say("Exercise")}</th><th scope="col" class="text">{say("Shares")}</th>{keys}'
        f'<th scope="col">{say("Discrimination")}</th>'
    )
    return table(say("Exercises"), note, head, rows)


def _bar(counts: Sequence[int]) -> str:
    parts = zip(KINDS, counts, strict=True)
    return '<div class="bar" aria-hidden="true">' + "".join(
        f'<span class="{kind}" style="flex:{count}"></span>' for kind, count in parts if count) + "</div>"  # fmt: skip


def _totals(scores: Scores | None) -> str:
    """Totals as they are exported: all marks, less the late penalties."""
    rows = [row for row in scores.rows if row.total is not None] if scores else []
    if scores is None or not rows:
        return ""
    totals = [row.total or 0.0 for row in rows]
    late, waiting = [row for row in rows if row.penalty], sum(row.waits for row in rows)
    by_hand = sum(row.by_hand > 0 for row in rows)
    told = [say("Mean {mean}, median {median} of {most} points; {count} students.", mean=f"{mean(totals):.2f}",
                median=f"{median(totals):g}", most=f"{scores.max_score:g}", count=len(rows))]  # fmt: skip
    if by_hand:
        told.append(say("Marks by hand are in {count} of them.", count=by_hand))
    if late:
        lost = f"{sum(row.penalty for row in late):g}"
        told.append(say("{count} lost {points} points for late submission.", count=len(late), points=lost))
    if waiting:
        told.append(say("{count} wait for manual marks.", count=waiting))
    return f"<h2>{say('Totals')}</h2><p>{' '.join(told)}</p>\n"


def _shares(students: Sequence[Verdicts]) -> str:
    means = [sum(share(verdict) for verdict in one.values()) / len(one) for one in students if one]
    counts = [0] * 5
    for one in means:
        counts[min(int(one * 5), 4)] += 1
    note = say("Students by the mean over their exercises; what is not graded yet counts as nothing.")
    return histogram(say("Students"), note, say("Mean share"), counts)


def _items(items: Sequence[CheckStatistics], titles: Titles) -> str:
    if not items:
        return ""
    rows = []
    sizes = Counter(one.exercise for one in items)
    for one in items:
        size = sizes.pop(one.exercise, 0)  # the first row of an exercise names it for all of them
        group = f'<th scope="rowgroup" rowspan="{size}">{escape(titles[one.exercise])}</th>' if size else ""
        bar = _bar((one.passed, 0, one.failed, 0))
        points = _of(f"{one.earned:.2f}", f"{one.of:.2f}") if one.of else "–"
        cells = f"<td>{_of(one.passed, one.passed + one.failed)}</td><td>{points}</td>{_power(one.discrimination)}"
        rows.append(f"<tr>{group}{row_head(say(one.name))}<td>{bar}</td>{cells}</tr>")
    note = say(
        "Who passes each check, the mean points that it earns, and its discrimination: the correlation of passing it "
        "with the marks for everything else. A check that all pass, or that does not separate, tells little."
    )
    names = "".join(f'<th scope="col" class="text">{name}</th>' for name in (say("Check"), say("Shares")))
    columns = say("Passed"), say("Points"), say("Discrimination")
    numbers = "".join(f'<th scope="col">{name}</th>' for name in columns)
    return table(say("Checks"), note, f'<th scope="col">{say("Exercise")}</th>{names}{numbers}', rows)


def _of(number: object, most: object) -> str:
    return say("{score} of {most}", score=number, most=most)


def _power(discrimination: float | None) -> str:
    number = "–" if discrimination is None else f"{discrimination:+.2f}".replace("-", "−")
    return f"<td>{number}</td>"


def _ways(ways: Sequence[FullMarks], titles: Titles) -> str:
    if not ways:
        return ""
    rows = []
    for one in ways:
        got, hours = len(one.attempts), one.median_hours
        cells = (one.students, one.first_attempt, got - one.first_attempt, one.students - got)
        typical = f"{one.median_attempts:g}" if got else "–"
        time = "–" if hours is None else _time(hours)
        numbers = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f"<tr>{row_head(titles[one.exercise])}{numbers}<td>{typical}</td><td>{time}</td></tr>")
    names = (say("Exercise"), say("Students"), say("At once"), say("Later"), say("Not yet"), say("Attempts"),
             say("Time to full marks"))  # fmt: skip
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    note = say(
        "Full marks at the first graded attempt, at a later one, or not yet; the median number of attempts of those "
        "who got there, and the median time from the first graded attempt of those who got there later."
    )
    return table(say("Attempts"), note, head, rows)


def _time(hours: float) -> str:
    return f"{hours:.1f} h" if hours < 48 else say("{count} days", count=f"{hours / 24:.1f}")


def _ideas(found: Sequence[ExerciseSummary], titles: Titles) -> str:
    pairs = sorted(((idea, one) for one in found for idea in one.misconceptions), key=lambda pair: -pair[0].students)
    if not pairs:
        return f"<h2>{say('Misconceptions')}</h2><p>{say('None was recognised.')}</p>"
    rows = [
        f'<tr>{row_head(idea.name.replace("_", " "))}<td class="text">{escape(titles[one.name])}</td>'
        f'<td class="text">{escape(idea.hint)}</td><td>{idea.students}</td></tr>'
        for idea, one in pairs
    ]
    names = say("Misconception"), say("Exercise"), say("What students read")
    head = "".join(f'<th scope="col" class="text">{name}</th>' for name in names)
    head += f'<th scope="col">{say("Students")}</th>'
    note = say("Misconceptions that submissions show, the most common first.")
    return table(say("Misconceptions"), note, head, rows)


def _not_run(students: Sequence[Verdicts]) -> str:
    """Properties that were checked for nobody, because a device or a dtype was missing."""
    checks = [check for one in students for verdict in one.values() for check in verdict["checks"]]
    lacking = Counter((check["name"], check["message"]) for check in checks if check["status"] == "not_run")
    items = "".join(_item_not_run(name, why, number) for (name, why), number in lacking.most_common())
    rule = say("No student loses points for this.")
    return f"<h2>{say('Not run')}</h2><p>{rule}</p><ul>{items}</ul>\n" if items else ""


def _item_not_run(name: str, why: str, number: int) -> str:
    said = say("{check}, in {count} verdicts: {why}", check=escape(say(name)), count=number, why=escape(places(why)))
    return f"<li>{said}</li>\n"
