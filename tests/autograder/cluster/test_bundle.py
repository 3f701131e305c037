"""What is sent to a worker, and the hashes that say whether it has been graded already."""

from __future__ import annotations

import zlib

import pytest
from nbformat.v4 import new_notebook, writes

from autograder.cluster import job
from autograder.cluster.bundle import (
    Bundle,
    Key,
    ReleasedNotebook,
    SubmittedNotebook,
    hash_of_submission,
    unpack,
)
from autograder.nbgrader.predictions import GRADE_ID
from autograder.nbgrader.rebuild import GradebookCell

ASKS = GradebookCell(GRADE_ID, "code", 'predictions_made("02.a", "02.b")', "0" * 32, True, True, False, False, 2.0)
EMPTY = writes(new_notebook())
SUBMITTED = {"02-masks": SubmittedNotebook(text=EMPTY)}


def bundle(predictions: tuple[str, ...]) -> Bundle:
    key = Key("ada", "02-masks", hash_of_submission(SUBMITTED, predictions), "")
    return Bundle(key, SUBMITTED, {"02-masks": ReleasedNotebook((ASKS,))}, {}, predictions)


def test_a_worker_gives_points_for_the_predictions_in_the_bundle():
    sent = Bundle.from_bytes(bundle(("02.b",)).to_bytes())
    assert sent == bundle(("02.b",))
    nb = job.grade_notebook(sent, "02-masks", sent.submitted["02-masks"], sent.released["02-masks"], [])
    (verdict,) = job.verdicts_in(nb)
    assert verdict["score"] == 1.0 and "not 02.a" in verdict["checks"][0]["message"]


def test_a_bundle_of_an_older_grader_has_no_predictions():
    raw = unpack(bundle(()).to_bytes())
    del raw["predictions"]
    assert Bundle.from_bytes(job.pack(raw)) == bundle(())


def test_new_predictions_are_a_new_submission():
    hashes = [hash_of_submission(SUBMITTED, made) for made in ((), ("02.a",), ("02.a", "02.b"))]
    assert len(set(hashes)) == 3 and hashes[0] == hash_of_submission(SUBMITTED)


def test_answers_about_code_are_sent_and_new_ones_are_a_new_submission():
    entries = {"masks.causal": [{"code": "0", "at": "now", "language": "en", "asked": []}]}
    sent = Bundle(*(getattr(bundle(()), name) for name in ("key", "submitted", "released", "settings")), (), entries)
    assert Bundle.from_bytes(sent.to_bytes()).questions == entries
    raw = unpack(bundle(()).to_bytes())
    del raw["questions"]
    assert Bundle.from_bytes(job.pack(raw)) == bundle(())  # of an older grader
    later = {"masks.causal": [*entries["masks.causal"], {**entries["masks.causal"][0], "code": "1"}]}
    hashes = [hash_of_submission(SUBMITTED, (), told) for told in ({}, entries, later)]
    assert len(set(hashes)) == 3 and hashes[0] == hash_of_submission(SUBMITTED)


def test_cluster_worker_other_record():
    """A worker that lies could write another student's grade, or a file outside the student's folder."""
    key, other = Key("ada", "a", "1", "2"), Key("ben", "a", "1", "2")
    record = job.GradingRecord(key, {"a": EMPTY}, [], 0.1, "w")
    assert job.GradingRecord.of(key, record.to_bytes()) == record
    outside = job.GradingRecord(key, {"../../ben/a/a": EMPTY}, [], 0.1, "w")
    for wanted, sent, why in ((other, record, "another submission"), (key, outside, "no file name")):
        with pytest.raises(ValueError, match=why):
            job.GradingRecord.of(wanted, sent.to_bytes())


def test_cluster_worker_zip_bomb():
    bomb = zlib.compress(b"[" + b" " * (300 << 20) + b"]")
    for sent, why in ((bomb, "larger than 256 MB"), (zlib.compress(b"[1]")[:-5], "cut off"), (b"x", "not a bundle")):
        with pytest.raises(ValueError, match=why):
            unpack(sent)
