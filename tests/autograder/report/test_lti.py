"""`autograder passback`: a platform that asks for what LTI 1.3 asks for gets each score once, for the right member."""

from __future__ import annotations

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.parse import parse_qs

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.cluster import scores
from autograder.report import lti

from .test_export import NAME
from .test_export import course as gradebook

MEMBERS = [
    {"user_id": "u-1", "email": "ADA@elsewhere.org", "lis_person_sourcedid": "ada", "roles": []},
    {"user_id": "u-2", "email": "-x@example.org", "roles": []},
    {"user_id": "u-3", "lis_person_sourcedid": "gone", "status": "Deleted", "roles": []},
    {"user_id": "half", "roles": []},
]
gradebook = gradebook  # the fixture: three graded students of four, one of them late, one with a mark that is missing


@pytest.fixture
def lms(gradebook, tmp_path, monkeypatch):
    """A platform on this machine, and a copy of the course that knows it."""
    monkeypatch.setattr(lti, "BACKOFF_S", 0.001)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    seen = SimpleNamespace(columns=[], scores=[], members=[dict(one) for one in MEMBERS], key=key, busy=[])

    class Platform(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def answer(self, body, status=200):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def do_GET(self):
            assert self.headers["Authorization"] == "Bearer yes"
            self.answer({"members": seen.members} if self.path == "/members" else seen.columns)

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/token":
                self.token(parse_qs(body.decode())["client_assertion"][0])
            elif self.path == "/columns":
                seen.columns.append(json.loads(body) | {"id": f"{seen.url}/columns/7"})
                self.answer(seen.columns[-1])
            elif seen.busy and seen.busy.pop(0):
                self.answer({"error": "try later"}, 503)
            else:
                seen.scores.append((self.path, json.loads(body)))
                self.answer({})

        def token(self, assertion):
            try:
                jwt.decode(assertion, seen.key.public_key(), ["RS256"], audience=f"{seen.url}/token", issuer="tool-1")
            except jwt.InvalidTokenError as error:
                self.answer({"error": f"invalid_client: {error}"}, 401)
            else:
                self.answer({"access_token": "yes", "expires_in": 3600})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Platform)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seen.url = f"http://127.0.0.1:{server.server_port}"
    seen.root = shutil.copytree(gradebook, tmp_path / "course")
    register(seen)
    yield seen
    server.shutdown()
    server.server_close()


def register(seen):
    """What the course is told of the platform: lti.toml, and the tool's private key."""
    words = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (seen.root / "lti.pem").write_bytes(seen.key.private_bytes(serialization.Encoding.PEM, *words))
    own = {"issuer": seen.url, "client_id": "tool-1", "key_file": "lti.pem"}
    own |= {"token_url": f"{seen.url}/token", "lineitems": f"{seen.url}/columns", "members": f"{seen.url}/members"}
    (seen.root / "lti.toml").write_text("".join(f'{name} = "{value}"\n' for name, value in own.items()))


def passback(lms, capsys, *more):
    with pytest.raises(SystemExit) as end:
        main(["passback", str(lms.root), NAME, *more])
    captured = capsys.readouterr()
    return end.value.code, captured.out + captured.err


def test_each_score_arrives_once_with_the_right_member(lms, capsys):
    status, said = passback(lms, capsys)
    assert status == 0 and "3 scores of 03-heads were accepted" in said and "1 of 3 wait for manual grading" in said
    assert [(one["label"], one["tag"], one["scoreMaximum"]) for one in lms.columns] == [(NAME, NAME, 5)]
    assert [path for path, _ in lms.scores] == ["/columns/7/scores"] * 3
    got = {one["userId"]: (one["scoreGiven"], one["scoreMaximum"], one["gradingProgress"]) for _, one in lms.scores}
    full, partial = "FullyGraded", "PendingManual"
    assert got == {"u-1": (2.5, 5, full), "u-2": (3, 5, full), "half": (2, 5, partial)}  # ada's less her late penalty
    comments = {one["userId"]: one.get("comment") for _, one in lms.scores}
    assert comments == {"u-1": "less 0.5 for late submission", "u-2": None, "half": "manual marks are missing"}
    with (lms.root / "lti.toml").open("a") as file:
        file.write(f'audience = "{lms.url}/token"\n')
    status, said = passback(lms, capsys)
    assert status == 0 and len(lms.columns) == 1 and len(lms.scores) == 3
    assert "0 scores of 03-heads were accepted; 3 have not changed" in said


def test_only_what_is_new_is_sent_unless_all_is_asked_for(lms, capsys):
    passback(lms, capsys)
    with Gradebook(f"sqlite:///{lms.root / 'gradebook.db'}", "tfkit") as gradebook:
        grade = gradebook.find_grade("mask", "unit", NAME, "half")
        grade.manual_score, grade.needs_manual_grade = 3, False
        gradebook.db.commit()
    status, said = passback(lms, capsys)
    assert status == 0 and "1 scores of 03-heads were accepted; 2 have not changed" in said
    assert (lms.scores[-1][1]["userId"], lms.scores[-1][1]["gradingProgress"]) == ("half", "FullyGraded")
    assert passback(lms, capsys, "--again")[0] == 0 and len(lms.scores) == 7


def test_a_busy_platform_is_asked_again_and_what_it_refused_for_good_is_sent_next_time(lms, capsys):
    lms.busy = [True, True]
    status, said = passback(lms, capsys)
    assert status == 0 and len(lms.scores) == 3, said
    (lms.root / lti.LEDGER_FILE).unlink()
    lms.busy, lms.scores = [False] + [True] * (lti.TRIES + 1), []
    status, said = passback(lms, capsys)
    assert status == 2 and "503" in said and "1 were accepted before, 2 are left: run it again" in said
    with (lms.root / lti.LEDGER_FILE).open("a") as file:
        file.write('{"half a li')  # as a kill leaves it
    status, said = passback(lms, capsys)
    assert status == 0 and "2 scores of 03-heads were accepted; 1 have not changed" in said
    assert len({one["userId"] for _, one in lms.scores}) == len(lms.scores) == 3


def test_who_is_no_member_is_named(lms, capsys):
    lms.members[0]["status"] = "Inactive"
    status, said = passback(lms, capsys)
    assert status == 2 and "no member ada:" in said and [one["userId"] for _, one in lms.scores] == ["u-2", "half"]


def test_what_goes_wrong_is_said_in_a_line(lms, capsys):
    lms.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    status, said = passback(lms, capsys)
    assert status == 2 and "refused" in said and "invalid_client" in said and said.count("\n") == 1
    path = lms.root / "lti.toml"
    text = path.read_text()
    for wrong, word in (
        (
            text.replace("client_id", "clientid"),
            "and may have audience and name, each a text; look at client_id, clientid",
        ),
        (text.replace("http://127.0.0.1", "http://lms.example.edu"), "must begin with https://"),
        (text.replace("lti.pem", "none.pem"), "none.pem cannot be read"),
        (text + 'use_email = "no"\n', "use_email must be true or false, not 'no'"),
        ("issuer =", "lti.toml cannot be read"),
    ):
        path.write_text(wrong)
        status, said = passback(lms, capsys)
        assert status == 2 and word in said and said.count("\n") == 1, said
    path.unlink()
    assert "lti.toml is missing" in passback(lms, capsys)[1]


def test_learners_come_into_the_gradebook_as_launches_call_them(lms, capsys):
    learner = ["http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"]
    lms.members = [
        {"user_id": "u-9", "email": "New@Example.org", "given_name": "Nia", "family_name": "New", "roles": learner},
        {"user_id": "u-1", "lis_person_sourcedid": "ada", "roles": learner},
        {"user_id": "u-8", "email": "gone@example.org", "status": "Inactive", "roles": learner},
        {"user_id": "u-7", "email": "t@example.org", "roles": [learner[0].replace("Learner", "Instructor")]},
    ]
    with pytest.raises(SystemExit) as end:
        main(["roster", str(lms.root)])
    said = capsys.readouterr().out
    assert end.value.code == 0 and "1 students were added to the gradebook: new@example.org" in said
    with Gradebook(f"sqlite:///{lms.root / 'gradebook.db'}", "tfkit") as gradebook:
        found = gradebook.find_student("new@example.org")
        assert (found.last_name, found.email, found.lms_user_id) == ("New", "New@Example.org", "u-9")
        assert "t@example.org" not in {one.id for one in gradebook.students}


def test_a_named_platforms_learners_are_known_by_their_own_names_alone(lms, capsys):
    with (lms.root / "lti.toml").open("a") as file:
        file.write('name = "north"\n')
    learner = ["http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"]
    lms.members = [{"user_id": "ada", "email": "ada@example.org", "roles": learner}]
    with pytest.raises(SystemExit):
        main(["roster", str(lms.root)])
    assert "1 students were added to the gradebook: north-ada" in capsys.readouterr().out
    status, said = passback(lms, capsys)  # the course's ada came from another platform
    assert status == 2 and "no member" in said and lms.scores == []


def test_a_user_name_finds_its_member(lms, capsys):
    lms.members[0]["lis_person_sourcedid"] = "ADA"  # a user name is in lower case
    status, _ = passback(lms, capsys)
    assert status == 0 and "u-1" in {one["userId"] for _, one in lms.scores}


def test_a_teams_last_submission_counts_for_all_its_members(lms, capsys):
    (lms.root / "teams.toml").write_text('[all]\nred = ["ada", "half"]\n')
    before = {row.student: row for row in scores.read(lms.root, NAME).rows}
    assert before["ada"].points == before["half"].points and before["ada"].penalty == before["half"].penalty
    status, said = passback(lms, capsys)
    assert status == 0 and "1 of 3 have the points of another team member's submission" in said
    got = {one["userId"]: one["scoreGiven"] for _, one in lms.scores}
    assert got["u-1"] == got["half"]
    (lms.root / "teams.toml").write_text(f'[all]\nred = ["ada", "half"]\n["{NAME}"]\n')
    assert scores.read(lms.root, NAME).rows[0].total == 2.5  # no teams in this one
    for wrong, word in (
        ('[all]\nred = ["ada"]\nblue = ["ada"]\n', "ada would be in two"),
        ("[all]\nred = 3\n", "must have"),
        ("=", "cannot be read"),
    ):
        (lms.root / "teams.toml").write_text(wrong)
        status, said = passback(lms, capsys)
        assert status == 2 and word in said and said.count("\n") == 1


def test_an_address_that_a_member_chose_gets_no_score_of_another(lms, capsys):
    lms.members[0]["lis_person_sourcedid"] = "ADA"
    lms.members.append({"user_id": "u-9", "email": "ada", "lis_person_sourcedid": "mallory", "roles": []})
    status, _ = passback(lms, capsys)
    got = {one["userId"] for _, one in lms.scores}
    assert status == 0 and "u-1" in got and "u-9" not in got


def test_an_address_of_two_members_gets_no_score(lms, capsys):
    lms.members.append({"user_id": "u-9", "email": "-x@example.org", "lis_person_sourcedid": "mallory", "roles": []})
    status, said = passback(lms, capsys)
    assert status == 2 and "has no member" in said and "u-9" not in {one["userId"] for _, one in lms.scores}


def test_a_learner_without_a_valid_name_costs_nobody_else_the_roster(lms, capsys):
    learner = ["http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"]
    lms.members = [
        {"user_id": "U-8", "email": "-x@example.org", "roles": learner},
        {"user_id": "U-9", "email": "new@example.org", "roles": learner},
    ]
    with pytest.raises(SystemExit) as end:
        main(["roster", str(lms.root)])
    assert end.value.code == 0 and "1 students were added to the gradebook: new@example.org" in capsys.readouterr().out
