"""A launch is let in when a platform that is known signed it for us, just now, for this browser; and once."""

from __future__ import annotations

import base64
import re
import time
import tomllib
from dataclasses import fields
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from autograder.launch import flow as flows
from autograder.launch import platforms
from autograder.launch.flow import LaunchError, LaunchFlow, WebRequest, username
from autograder.report import lti

from .conftest import CLAIM, answer


@pytest.fixture
def flow(platform, tmp_path):
    return LaunchFlow(platforms.read(platform.file(tmp_path)))


def begin(flow, platform):
    """The login of a browser: what the tool asked the platform, and the browser's cookies."""
    where, cookies = flow.login(WebRequest(platform.login(), {}, True), "http://hub/hub/lti/launch")
    return answer(where), {name: value for name, (value, _) in cookies.items()}


def send(flow, platform, asked, cookies, claims, key=None):
    form = {"id_token": platform.token(claims, key), "state": asked["state"]}
    return flow.launch(WebRequest(form, cookies, True))


def test_a_launch_says_who_comes_from_which_course(flow, platform):
    asked, cookies = begin(flow, platform)
    assert asked["redirect_uri"] == "http://hub/hub/lti/launch" and asked["response_mode"] == "form_post"
    found = send(flow, platform, asked, cookies, platform.claims(asked["nonce"]))
    assert (found.user, found.course, found.teaches, found.deep_link) == ("ada", "tfkit", False, False)
    assert found.lineitems.endswith("/columns") and found.members.endswith("/members")
    asked, cookies = begin(flow, platform)
    other = platform.claims(asked["nonce"], "Instructor", **{f"{CLAIM}context": {"id": "c-8"}})
    found = send(flow, platform, asked, cookies, other)
    assert (found.course, found.teaches) == ("nlp", True)


@pytest.mark.parametrize(
    ("custom", "target"),
    [({}, "lab"), ({"next": "git-pull?repo=https%3A%2F%2Fx&branch=main"}, "git-pull?repo=https%3A%2F%2Fx&branch=main"),
     ({"next": "https://evil.example"}, "lab")],
)  # fmt: skip
def test_a_launch_leads_to_the_notebook_that_its_link_names(flow, platform, custom, target):
    asked, cookies = begin(flow, platform)
    claims = platform.claims(asked["nonce"], **{f"{CLAIM}custom": custom})
    assert send(flow, platform, asked, cookies, claims).target == target


def test_what_is_not_as_it_must_be_is_refused(flow, platform):
    def refused(change, cookies=None, key=None):
        asked, own = begin(flow, platform)
        claims = platform.claims(asked["nonce"]) | change
        with pytest.raises(LaunchError) as error:
            send(flow, platform, asked, own if cookies is None else cookies, claims, key)
        return str(error.value)

    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert "not valid" in refused({}, key=stranger)
    assert "not valid" in refused({}, cookies={})  # another browser's
    assert "not valid" in refused({"nonce": "mine"})
    assert "not valid" in refused({"exp": 1})
    assert "not valid" in refused({"aud": "another-tool"})
    assert "not valid" in refused({f"{CLAIM}deployment_id": "9"})
    assert "the course c-9 of" in refused({f"{CLAIM}context": {"id": "c-9"}})
    with pytest.raises(LaunchError, match="cannot continue"):
        flow.login(WebRequest(platform.login() | {"iss": "https://elsewhere"}, {}, True), "http://hub")


def test_a_launch_is_good_once(flow, platform):
    asked, cookies = begin(flow, platform)
    claims = platform.claims(asked["nonce"])
    send(flow, platform, asked, cookies, claims)
    with pytest.raises(LaunchError):
        send(flow, platform, asked, cookies, claims)


def test_a_deep_link_sends_what_was_chosen(flow, platform):
    asked, cookies = begin(flow, platform)
    launch = send(flow, platform, asked, cookies, platform.deep_link(asked["nonce"]))
    assert launch.deep_link and launch.teaches
    page = flow.choose(launch.launch_id, "http://hub/hub/lti/launch", {"03-heads": 5.0})
    assert f'action="{platform.url}/return"' in page
    token = re.search(r'value="([^"]+)"', page)[1]
    keys = jwt.PyJWKSet.from_dict(flow.keys())
    said = jwt.decode(token, keys.keys[0].key, ["RS256"], audience=platform.url, issuer="tool-1")
    (item,) = said["https://purl.imsglobal.org/spec/lti-dl/claim/content_items"]
    assert item["custom"] == {"assignment": "03-heads"} and item["lineItem"]["scoreMaximum"] == 5
    assert item["lineItem"]["tag"] == "03-heads"  # the column that `autograder passback` looks for
    assert said["https://purl.imsglobal.org/spec/lti-dl/claim/data"] == "opaque"
    with pytest.raises(LaunchError, match="has expired"):
        flow.choose("lti1p3-launch-none", "http://hub", {"03-heads": 5.0})


def test_what_a_launch_leaves_behind_goes(flow, platform, monkeypatch):
    monkeypatch.setattr(flows, "KEPT_S", -1.0)
    begin(flow, platform)
    begin(flow, platform), begin(flow, platform)
    assert len(flow._memory._kept) <= 2


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({f"{CLAIM}lis": {"person_sourcedid": "Ada1"}, "email": "a@b"}, "ada1"),
        ({"email": "Ada@Example.org", "sub": "7"}, "ada@example.org"),
        ({"lis_person_sourcedid": "../root", "user_id": "u-1"}, "sub-u-1"),
        ({"user_id": "u-1"}, "u-1"),
    ],
)
def test_names_are_those_of_the_roster_too(said, name):
    assert username(said) == name


def test_who_has_no_name_is_refused():
    with pytest.raises(LaunchError, match="neither an id"):
        username({"sub": "a b"})


@pytest.mark.parametrize(
    ("claims", "options", "name"),
    [
        ({"sub": "7"}, {"platform": "north"}, "north-7"),
        ({"user_id": "7", "email": "ada@example.org"}, {"platform": "south"}, "south-7"),
        ({"sub": "7", "email": "ada@example.org"}, {"platform": "south", "use_email": True}, "south-ada@example.org"),
        ({"sub": "7", "email": "ada@example.org"}, {"use_email": False}, "7"),
    ],
)
def test_a_named_platforms_users_have_names_of_their_own(claims, options, name):
    assert username(claims, **options) == name


def test_users_of_two_platforms_with_the_same_id_are_two_users(platform, other_platform, tmp_path):
    tables = platform.table('name = "north"\n'), other_platform.table('name = "south"\nuse_email = true\n')
    flow = LaunchFlow(platforms.read(platform.file(tmp_path, *tables)))
    found = []
    for one in (platform, other_platform):
        asked, cookies = begin(flow, one)
        launch = send(flow, one, asked, cookies, one.claims(asked["nonce"], **{f"{CLAIM}lis": {}, "sub": "7"}))
        found.append(launch.user)
    assert found == ["north-7", "south-ada@example.org"]


def test_platforms_that_could_share_user_names_are_refused(platform, other_platform, tmp_path):
    north, south = 'name = "north"\n', 'name = "south"\n'

    def refusal(first, second, other=other_platform):
        second = other.table(second).replace("tool-1", "tool-2")
        with pytest.raises(platforms.BadPlatforms) as error:
            platforms.read(platform.file(tmp_path, platform.table(first), second))
        assert str(error.value).count("\n") == 0
        return str(error.value)

    assert f"{platform.url} with client id tool-1 lacks one" in refusal("", south)
    assert f"{other_platform.url} with client id tool-2 lacks one" in refusal(north, "")
    assert "tool-1 lacks one" in refusal("", south, platform)  # one LMS of several institutions has one issuer
    assert "name = 'north' is used for two issuers" in refusal(north, north)
    assert "lower-case letters and digits" in refusal(north, 'name = "south-1"\n')
    assert "use_email must be true or false" in refusal(north, south + 'use_email = "no"\n')
    # two registrations of one LMS may share its users
    second = platform.table(north).replace("tool-1", "tool-2")
    assert platforms.read(platform.file(tmp_path, platform.table(north), second))


def test_the_examples_of_the_documentation_are_valid(platform, tmp_path):
    text = (Path(__file__).parents[3] / "docs/lti.md").read_text(encoding="utf-8")
    several, course = re.findall(r"(?s)```toml\n(.*?)```", text)
    path = platform.file(tmp_path)
    path.write_text(several)
    assert [names.platform for names in platforms.read(path).users.values()] == ["north", "south"]
    described = re.findall(r"(?m)^\| (`.*?`) \|", text)
    keys = {name for names in described for name in re.findall(r"`(\w+)`", names)}
    used = tomllib.loads(several)
    assert keys - {"audience"} == (used.keys() - {"platform"}) | {key for one in used["platform"] for key in one}
    (tmp_path / "lti.toml").write_text(course)
    assert lti.platform(tmp_path).members.startswith("https://")
    assert {field.name for field in fields(lti.Platform)} == set(re.findall(r"(?m)^(?:# )?(\w+) =", course))


def test_the_only_platform_may_have_a_name(platform, tmp_path):
    flow = LaunchFlow(platforms.read(platform.file(tmp_path, platform.table('name = "north"\n'))))
    asked, cookies = begin(flow, platform)
    assert send(flow, platform, asked, cookies, platform.claims(asked["nonce"])).user == "north-ada"


def test_a_file_that_cannot_be_used_is_said_in_a_line(platform, tmp_path):
    path = platform.file(tmp_path)
    text = path.read_text()
    for wrong, word in (
        (text.replace("client_id", "clientid"), "one lacks client_id"),
        (text.replace(f'login_url = "{platform.url}', 'login_url = "http://lms.example.edu'), "begin with https://"),
        (text.replace("lti.pem", "none.pem"), "cannot be read"),
        ("state = ''", "lacks"),
        ("= =", "cannot be read"),
    ):
        path.write_text(wrong)
        with pytest.raises(platforms.BadPlatforms, match=word):
            platforms.read(path)


COLLISIONS = [
    ({f"{CLAIM}lis": {"person_sourcedid": "\u212aevin"}}, "kevin"),
    ({"email": "\u212aevin@example.org", "sub": "9"}, "kevin@example.org"),
    ({"sub": "aB"}, "ab"),
    ({f"{CLAIM}lis": {"person_sourcedid": ""}, "sub": "5"}, "5"),
]


@pytest.mark.parametrize(("claims", "taken"), COLLISIONS)
def test_lti_username_collision(claims, taken):
    """Two users of a platform became one: by folding letters, or because one kind of id looks like another."""
    try:
        assert username(claims) != taken
    except LaunchError as error:
        assert "valid user name" in str(error)


SHAPES = {
    f"{CLAIM}lis": [None, 3, [], "ada"],
    f"{CLAIM}context": [None, 3, []],
    f"{CLAIM}custom": [3, "x"],
    f"{CLAIM}roles": [3, "Instructor", {"a": 1}],
    "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint": [3, []],
    "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice": ["x"],
}


@pytest.mark.parametrize("claim", SHAPES)
def test_lti_shapes(flow, platform, claim):
    """A claim of another kind than LTI's raised AttributeError, which the Hub answered with an error 500."""
    for value in SHAPES[claim]:
        asked, cookies = begin(flow, platform)
        claims = platform.claims(asked["nonce"]) | {claim: value}
        try:
            launch = send(flow, platform, asked, cookies, claims)
        except LaunchError:
            continue
        assert not launch.teaches and launch.user.endswith(("ada", "ada@example.org"))


def test_lti_shapes_of_the_token(flow, platform):
    for body in ("[]", "3", "null", '{"iss": {}}', '{"nonce": []}'):
        asked, cookies = begin(flow, platform)
        parts = (base64.urlsafe_b64encode(text.encode()).decode().rstrip("=") for text in ("[]", body, "x"))
        with pytest.raises(LaunchError, match="not valid"):
            flow.launch(WebRequest({"id_token": ".".join(parts), "state": asked["state"]}, cookies, True))


def test_lti_expiry_and_audience(flow, platform):
    """A token without an end, or one that another party of the audience asked for, was accepted."""
    asked, cookies = begin(flow, platform)
    endless = platform.claims(asked["nonce"])
    del endless["exp"]
    with pytest.raises(LaunchError, match="expires"):
        send(flow, platform, asked, cookies, endless)
    for change in ({"aud": ["tool-1", "evil"], "azp": "evil"}, {"aud": ["tool-1", "evil"]}, {"azp": "evil"}):
        asked, cookies = begin(flow, platform)
        with pytest.raises(LaunchError, match="another tool"):
            send(flow, platform, asked, cookies, platform.claims(asked["nonce"]) | change)
    asked, cookies = begin(flow, platform)
    two = platform.claims(asked["nonce"]) | {"aud": ["tool-1", "other"], "azp": "tool-1"}
    assert send(flow, platform, asked, cookies, two).user == "ada"


def test_lti_login_flood():
    """Without an account anybody could fill the Hub's memory, in quadratic time."""
    memory, started = flows.LaunchMemory(), time.process_time()
    for number in range(3 * flows.MOST_KEPT):
        memory.set_value(str(number), number)
    assert len(memory._kept) == flows.MOST_KEPT and time.process_time() - started < 2
    assert memory.get_value(str(3 * flows.MOST_KEPT - 1)) and memory.get_value("0") is None
