"""Logins and launches, validated by PyLTI1p3, without a web framework: the input is the parts of a request."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pylti1p3.cookie import CookieService
from pylti1p3.deep_link_resource import DeepLinkResource
from pylti1p3.exception import LtiException
from pylti1p3.launch_data_storage.base import LaunchDataStorage
from pylti1p3.lineitem import LineItem
from pylti1p3.message_launch import MessageLaunch
from pylti1p3.oidc_login import OIDCLogin
from pylti1p3.redirect import Redirect
from pylti1p3.request import Request
from pylti1p3.session import SessionService

from autograder.launch.links import launch_target
from autograder.launch.platforms import Platforms

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
TEACHING = ("membership#Instructor", "membership#Administrator", "membership#ContentDeveloper")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]*")  # matched before folding, which makes a k of the Kelvin sign
KEPT_S = 3600.0  # how long a launch's data is kept
MOST_KEPT = 20_000  # values; a login needs no account, so that anyone can start many
BAD_SHAPES = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)  # of claims, in PyLTI1p3


class LaunchError(Exception):
    """The launch is not valid; the message says why."""


class LaunchMemory(LaunchDataStorage[Any]):
    """States, nonces and launches in the Hub's memory, kept for an hour; a nonce is valid for one launch."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[str, tuple[float, Any]] = {}

    def get_session_cookie_name(self) -> None:
        """None: the cookie of its state binds a launch to a browser."""

    def can_set_keys_expiration(self) -> bool:
        """Whether PyLTI1p3 can set how long a key is kept; the time is fixed here."""
        return False

    def get_value(self, key: str) -> Any:
        """The value, or None if it was dropped."""
        return self._kept.get(self._prepare_key(key), (0.0, None))[1]

    def set_value(self, key: str, value: Any, exp: int | None = None) -> None:
        """Store the value, and drop expired ones."""
        now, name = time.monotonic(), self._prepare_key(key)
        self._kept.pop(name, None)
        self._kept[name] = now + KEPT_S, value
        while self._kept:  # the oldest is the first
            first = next(iter(self._kept))
            if self._kept[first][0] >= now and len(self._kept) <= MOST_KEPT:
                return
            del self._kept[first]

    def check_value(self, key: str) -> bool:
        """Whether the value was stored; removes it, so that no launch can be replayed."""
        return self._kept.pop(self._prepare_key(key), None) is not None


@dataclass
class WebRequest(Request):
    """A request: form or query, cookies, and whether it used https."""

    parameters: Mapping[str, str]
    cookies: Mapping[str, str]
    secure: bool

    @property
    def session(self) -> dict[str, Any]:
        """Empty, because `LaunchMemory` stores what a session would."""
        return {}

    def is_secure(self) -> bool:
        """Whether the request used https, for PyLTI1p3."""
        return self.secure

    def get_param(self, key: str) -> Any:
        """The parameter, or None if there is none."""
        return self.parameters.get(key)


class Cookies(CookieService):
    """Cookies of the request, and those to be set: name → (value, seconds)."""

    def __init__(self, request: WebRequest) -> None:
        self._request, self.new = request, dict[str, tuple[str, int]]()

    def get_cookie(self, name: str) -> str | None:
        """A cookie of the request."""
        return self._request.cookies.get(f"{self._cookie_prefix}-{name}")

    def set_cookie(self, name: str, value: str | int, exp: int | None = 3600) -> None:
        """Set a cookie in the response."""
        self.new[f"{self._cookie_prefix}-{name}"] = str(value), exp or 3600


class _Address(Redirect[str]):
    def __init__(self, url: str) -> None:
        self._url = url

    def do_redirect(self) -> str:
        return self._url

    def do_js_redirect(self) -> str:
        return self._url

    def set_redirect_url(self, location: str) -> None:
        self._url = location

    def get_redirect_url(self) -> str:
        return self._url


class _Login(OIDCLogin):
    def get_redirect(self, url: str) -> _Address:
        return _Address(url)


class _Launch(MessageLaunch):
    def _get_request_param(self, key: str) -> Any:
        return self._request.get_param(key)


@dataclass(frozen=True)
class Launch:
    """The user, their course, and the platform's services; an address is empty if there is no such service."""

    user: str
    name: str
    teaches: bool
    course: str
    issuer: str
    client_id: str
    lineitems: str
    members: str
    assignment: str
    deep_link: bool
    launch_id: str
    target: str = "lab"  # the page of the user's server that the launch leads to


class LaunchFlow:
    """The steps of a launch. Each raises LaunchError."""

    def __init__(self, platforms: Platforms) -> None:
        self.platforms, self._memory = platforms, LaunchMemory()

    def login(self, request: WebRequest, launch_url: str) -> tuple[str, dict[str, tuple[str, int]]]:
        """The address of the platform's login, and the cookies to set."""
        cookies, session = self._services(request)
        try:
            where = _Login(request, self.platforms.tool, session, cookies, self._memory).redirect(launch_url)
            return where, cookies.new
        except LtiException as error:
            raise LaunchError(f"this login cannot continue: {error}") from error
        except BAD_SHAPES as error:
            raise LaunchError("this login cannot continue: its parameters are not those of LTI 1.3") from error

    def launch(self, request: WebRequest) -> Launch:
        """The launch that the platform sent, after its signature, state, nonce and deployment were verified."""
        return self._described(self._message(request))

    def choose(self, launch_id: str, url: str, assignments: Mapping[str, float]) -> str:
        """The page that answers a deep-linking request: it sends a link for each assignment with its points."""
        request = WebRequest({}, {}, True)
        cookies, session = self._services(request)
        session.set_data_storage(self._memory)
        try:
            message = _Launch.from_cache(launch_id, request, self.platforms.tool, session, cookies, self._memory)
            links = [self._link(url, name, points) for name, points in assignments.items()]
            return str(message.get_deep_link().output_response_form(links))
        except (LtiException, *BAD_SHAPES) as error:
            raise LaunchError("this selection has expired: open the link in the LMS again") from error

    def keys(self) -> dict[str, Any]:
        """The tool's public keys, as platforms fetch them."""
        return {"keys": list({key["kid"]: key for key in self.platforms.tool.get_jwks()["keys"]}.values())}

    def _services(self, request: WebRequest) -> tuple[Cookies, SessionService]:
        return Cookies(request), SessionService(request)

    def _message(self, request: WebRequest) -> _Launch:
        cookies, session = self._services(request)
        message = _Launch(request, self.platforms.tool, session, cookies, self._memory)
        try:
            message.validate()
        except LtiException as error:
            raise LaunchError(f"this launch is not valid: {error}") from error
        except BAD_SHAPES as error:
            raise LaunchError("this launch is not valid: its claims are not those of LTI 1.3") from error
        _check_audience(dict(message.get_launch_data()), message.get_client_id())
        return message

    def _described(self, message: _Launch) -> Launch:
        claims: dict[str, Any] = dict(message.get_launch_data())
        issuer, context = str(claims["iss"]), str(_object(claims, f"{CLAIM}context").get("id", ""))
        course = self.platforms.courses.get((issuer, context))
        if course is None:
            raise LaunchError(f"the course {context or 'without an id'} of {issuer} is not one of this Hub's courses")
        roles, names = _listed(claims.get(f"{CLAIM}roles")), self.platforms.users[issuer, message.get_client_id()]
        endpoint, roster, custom = (_object(claims, name) for name in (AGS, NRPS, f"{CLAIM}custom"))
        return Launch(
            username(claims, names.platform, names.use_email), str(claims.get("name", "")),
            any(str(role).endswith(TEACHING) for role in roles), course,
            issuer, message.get_client_id(), str(endpoint.get("lineitems", "")),
            str(roster.get("context_memberships_url", "")), str(custom.get("assignment", "")),
            message.is_deep_link_launch(), message.get_launch_id(), launch_target(custom.get("next")),
        )  # fmt: skip

    def _link(self, url: str, assignment: str, points: float) -> DeepLinkResource:
        column = LineItem().set_tag(assignment).set_label(assignment).set_score_maximum(points)
        link = DeepLinkResource().set_url(url).set_title(assignment).set_custom_params({"assignment": assignment})
        return link.set_lineitem(column).set_target("window")


def _object(claims: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A claim that is an object; empty if it is missing or null. Raises LaunchError for anything else."""
    found = claims.get(name)
    if found is not None and not isinstance(found, dict):
        raise LaunchError(f"this launch is not valid: its claim {name} is not an object")
    return found or {}


def _listed(claim: Any) -> list[Any]:
    return claim if isinstance(claim, list) else []


def _check_audience(claims: Mapping[str, Any], client: str) -> None:
    """What OpenID Connect demands of a token besides PyLTI1p3's checks. Raises LaunchError."""
    if not isinstance(claims.get("exp"), int | float):
        raise LaunchError("this launch is not valid: it has no time at which it expires (exp)")
    audience, party = claims.get("aud"), claims.get("azp")
    several = isinstance(audience, list) and len(audience) > 1
    if (several or party is not None) and party != client:
        raise LaunchError("this launch is not valid: it was made for another tool (azp)")


def username(claims: Mapping[str, Any], platform: str = "", use_email: bool | None = None) -> str:
    """The user name of a member: the institution's id, else the e-mail address, else the platform's id; in lower case.

    claims: those of a launch, or a member of the names and roles service. platform: its name, with which its users'
    names begin, since platforms may give the same ids. use_email: whether an e-mail address can be a name; users can
    often change theirs, so by default only if the platform has no name, which then is the only one. Where a platform
    speaks of the institution's ids, but this user has none, the platform's id gets the prefix "sub-", since it may be
    another user's institution id. A platform's ids are opaque, so that no two of them may become one by folding.
    Raises LaunchError if no id is usable.
    """
    email = ("email",) if (not platform if use_email is None else use_email) else ()
    lis = _object(claims, f"{CLAIM}lis")
    prefix = "sub-" if "person_sourcedid" in lis or "lis_person_sourcedid" in claims else ""
    known = [lis.get("person_sourcedid"), *(claims.get(name) for name in ("lis_person_sourcedid", *email))]
    found = [str(one).lower() for one in known if one and NAME.fullmatch(str(one))]
    own = [str(one) for one in (claims.get("sub"), claims.get("user_id")) if one]
    found += [prefix + one for one in own if NAME.fullmatch(one) and one == one.lower()]
    if found:
        return f"{platform}-{found[0]}" if platform else found[0]
    raise LaunchError(f"the LMS sends {'neither an id nor an e-mail address' if email else 'no id'} "
                      "that is a valid user name here")  # fmt: skip
