"""Answers regrade requests: a person accepts with a new mark or declines with a reason, and the feedback says so."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.cluster.course import settings_of, working_in
from autograder.feedback.translate import say
from autograder.marking import desk, requests
from autograder.marking.answers import answers, source_of
from autograder.marking.marks import (
    FORMGRADER,
    find_mark,
    find_question,
    open_gradebook,
    version_of,
    write_mark,
)
from autograder.marking.store import BadMark, MarkingStore, RegradeRequest
from autograder.serve.feedback import FeedbackError, give_feedback

ACCEPTED, DECLINED = "On your request: {sentence}", "Your request was declined: {sentence}"


def list_requests(root: Path) -> list[dict[str, Any]]:
    """Every request, open ones first and with the answer, its verdict and its mark.

    Reads new requests from the exchange; one about a question for which the student has no graded submission stays
    there. Raises BadMark if the gradebook cannot be read.
    """
    with open_gradebook(root) as gradebook, MarkingStore(root) as store:
        _receive(root, gradebook, store)
        found = [_as_json(root, gradebook, store, one) for one in store.requests()]
    return sorted(found, key=lambda one: (one["accepted"] is not None, one["at"]))


def count_waiting(root: Path) -> int:
    """The number of open requests, after reading new ones from the exchange.

    Raises BadMark if the gradebook cannot be read.
    """
    with open_gradebook(root) as gradebook, MarkingStore(root) as store:
        _receive(root, gradebook, store)
        return sum(one.accepted is None for one in store.requests())


def _receive(root: Path, gradebook: Any, store: MarkingStore) -> None:
    with working_in(root):
        new = list(requests.new_requests(settings_of(root), store.request_files()))
    with store.transaction():
        there = {(one.of, one.student, one.sender) for one in store.requests() if one.accepted is None}
        for one in new:
            try:
                find_mark(gradebook, find_question(gradebook, one.of), one.student)
            except BadMark:
                continue
            # a second one of the same account is ignored until the first is answered
            if (one.of, one.student, one.sender) not in there:
                store.add_request(one)
                there.add((one.of, one.student, one.sender))


def _as_json(root: Path, gradebook: Any, store: MarkingStore, one: RegradeRequest) -> dict[str, Any]:
    fields = {
        "id": one.id, **one.of._asdict(), "student": one.student, "reason": one.reason, "at": one.at,
        "sender": "" if one.sender == one.student else one.sender,
        "accepted": one.accepted, "sentence": one.sentence, "by": one.author,
        "kind": "task", "max_score": 0.0, "answer": None, "rubric": [],
    }  # fmt: skip
    if one.accepted is not None:  # the page shows no more of it
        return fields
    try:
        question = find_question(gradebook, one.of)
    except BadMark:  # the assignment was made again without it
        return fields
    marks = store.marks(one.of)
    given = answers(root, gradebook, question, marks, source_of(root, one.of), only=one.student)
    items = desk.selectable_items(root, one.of, marks)
    more = {"kind": question.kind, "max_score": question.max_score, "rubric": items}
    return {**fields, **more, "answer": given.get(one.student)}


def accept(
    root: Path, number: int, version: int, score: float, sentence: str, chosen: Sequence[int], author: str
) -> dict[str, Any]:
    """Accept the request with a new mark; returns the same as `desk.set_marks`, and `feedback`: why it was not updated.

    Raises BadMark if the request is not open or the mark is invalid.
    """
    one = _waiting(root, number)
    own = say(ACCEPTED, sentence=sentence.strip()) if sentence.strip() else ""
    done = desk.set_marks(root, one.of, {one.student: version}, score, own, chosen, author)
    if done["meanwhile"]:
        return {**done, "feedback": ""}
    _answer(root, one, True, sentence, author)
    return {**done, "feedback": _feedback(root, one)}


def decline(root: Path, number: int, version: int, sentence: str, author: str) -> dict[str, Any]:
    """Decline the request and add the reason to the comment; returns the same as `accept`.

    Raises BadMark if the request is not open or the reason is empty.
    """
    one = _waiting(root, number)
    if not sentence.strip():
        raise BadMark("give a reason for declining the request")
    line = say(DECLINED, sentence=sentence.strip())
    with open_gradebook(root) as gradebook, MarkingStore(root) as store, store.transaction():
        question = find_question(gradebook, one.of)
        last, there = store.marks(one.of).get(one.student), find_mark(gradebook, question, one.student)
        if (now := version_of(last, there, question)) != version:
            by_whom = last.author if last and last.id == now else FORMGRADER
            entry = {"by": by_whom, "score": there.score, "comment": there.comment, "version": now}
            return {"done": [], "meanwhile": {one.student: entry}, "feedback": ""}
        kept: Mapping[str, Any] = {"chosen": last.chosen, "extra": last.extra} if last and last.id == now else {}
        own = "\n".join(text for text in ((last.own if kept and last else there.comment), line) if text)
        comment = "\n".join(text for text in (there.comment, line) if text)
        write_mark(gradebook, question, one.student, there.manual, comment)
        store.add_mark(one.of, one.student, there.manual, comment, author, own=own, **kept)
        gradebook.db.commit()
    _answer(root, one, False, sentence, author)
    return {"done": [one.student], "meanwhile": {}, "feedback": _feedback(root, one)}


def _waiting(root: Path, number: int) -> RegradeRequest:
    with MarkingStore(root) as store:
        found = next((one for one in store.requests() if one.id == number), None)
    if found is None:
        raise BadMark(f"there is no regrade request {number}")
    if found.accepted is not None:
        raise BadMark(f"{found.author} has already answered this request")
    return found


def _answer(root: Path, one: RegradeRequest, accepted: bool, sentence: str, author: str) -> None:
    with MarkingStore(root) as store:
        try:
            store.add_answer(one.id, accepted, sentence.strip(), author)
        except sqlite3.IntegrityError:
            raise BadMark("someone else has answered this request in the meantime: reload the requests") from None


def _feedback(root: Path, one: RegradeRequest) -> str:
    """Regenerate the student's feedback page if there is one; returns "", or why it could not be regenerated."""
    if not (root / "feedback" / one.student / one.of.assignment).is_dir():
        return "no feedback has been generated for this assignment yet"
    try:
        give_feedback(root, one.of.assignment, one.student)
    except FeedbackError as error:
        return str(error)
    return ""
