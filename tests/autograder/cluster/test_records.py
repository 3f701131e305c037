"""What is on disk: each record once, whole or absent, never changed; one grader at a time."""

import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from autograder.cluster.bundle import Key
from autograder.cluster.job import GradingRecord
from autograder.cluster.records import CourseBusy, Records
from tfkit_course.formats import RECORDS as FORMAT

KEY = Key("ada", "unit", "s" * 64, "c" * 64)


def record(student="ada", text="{}"):
    return GradingRecord(KEY._replace(student=student), {"unit": text}, [], 1.5, "here:1")


def test_a_duplicate_completion_is_recorded_once(tmp_path):
    with Records(tmp_path) as records:
        round = records.begin_round("unit", regrade=False)
        assert records.add(round, record())
        assert not records.add(round, record(text="another"))
        assert records.keys(round) == {KEY}
        assert records.get(round, KEY).notebooks == {"unit": "{}"}


def test_a_resubmission_is_another_record_and_a_regrade_another_round(tmp_path):
    with Records(tmp_path) as records:
        first = records.begin_round("unit", regrade=False)
        again = GradingRecord(KEY._replace(submission="t" * 64), {}, [], 1.0, "here:1")
        assert records.add(first, record()) and records.add(first, again)
        records.end_round(first, "committed")
        second = records.begin_round("unit", regrade=True)
        assert records.open_round("unit") == second
        assert records.open_round("other") is None
        assert records.add(second, record())
        assert len(records.keys(first)) == 2 and len(records.keys(second)) == 1


def test_current_is_what_reached_the_gradebook(tmp_path):
    with Records(tmp_path) as records:
        round = records.begin_round("unit", regrade=False)
        records.add(round, record())
        assert records.current_keys("unit") == {}
        assert records.uncommitted_keys(round) == {KEY}
        records.mark_committed(round, KEY)
        records.mark_committed(round, KEY)
        assert records.current_keys("unit") == {"ada": KEY}
        assert records.uncommitted_keys(round) == set()


@pytest.mark.parametrize("table", ["rounds", "ends", "records", "commits"])
def test_nothing_is_ever_changed_or_deleted(tmp_path, table):
    with Records(tmp_path) as records:
        round = records.begin_round("unit", regrade=False)
        records.add(round, record())
        records.mark_committed(round, KEY)
        records.end_round(round, "committed")
    db = sqlite3.connect(tmp_path / "records.db")
    column = db.execute(f"select name from pragma_table_info('{table}')").fetchone()[0]
    for statement in (f"delete from {table}", f"update {table} set {column} = 7"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            db.execute(statement)
    db.close()


def test_a_second_grader_is_told(tmp_path):
    with Records(tmp_path), pytest.raises(CourseBusy, match="another"):
        Records(tmp_path)
    Records(tmp_path).__exit__()  # the lock went with the first


def test_the_tables_have_a_version_and_those_of_a_later_release_are_left_alone(tmp_path):
    for _ in range(2):  # when it is made, and when it is opened again
        with Records(tmp_path) as records:
            assert records._db.execute("pragma user_version").fetchone() == (FORMAT.version,)
    with sqlite3.connect(tmp_path / "records.db") as db:
        db.execute(f"pragma user_version = {FORMAT.version + 1}")
    before = (tmp_path / "records.db").read_bytes()
    for _ in range(2):  # the lock is given back
        with pytest.raises(
            sqlite3.DatabaseError, match=f"format {FORMAT.version + 1}, .* reads {FORMAT.version}: install"
        ) as caught:
            Records(tmp_path)
        assert caught.value.__notes__ == [str(tmp_path / "records.db")]
    assert (tmp_path / "records.db").read_bytes() == before


WRITE = """
import sys
from pathlib import Path
from autograder.cluster.bundle import Key
from autograder.cluster.job import GradingRecord
from autograder.cluster.records import Records
import random
with Records(Path(sys.argv[1])) as records:
    round = records.begin_round("unit", False)
    for n in range(100_000):
        text = random.randbytes(200_000).hex()
        records.add(round, GradingRecord(Key(f"s{n}", "unit", "s", "c"), {"unit": text}, [], 1.0, "w"))
        print(n, flush=True)
"""


def test_killed_while_it_writes_no_record_is_half(tmp_path):
    writer = subprocess.Popen([sys.executable, "-c", WRITE, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    while (line := writer.stdout.readline().strip()) != "5":
        assert line, "the writer ended by itself"
    time.sleep(0.013)  # into a write
    writer.send_signal(signal.SIGKILL)
    said = 5 + len(writer.stdout.read().splitlines())
    writer.wait()
    with Records(tmp_path) as records:
        round = records.open_round("unit")
        keys = records.keys(round)
        assert len(keys) >= said + 1  # what was said to be kept is there
        assert all(len(records.get(round, key).notebooks["unit"]) == 400_000 for key in keys)
