"""A JupyterHub authenticator for LTI 1.3: `c.JupyterHub.authenticator_class = "tfkit-lti"`."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyterhub.auth import Authenticator
from jupyterhub.handlers import BaseHandler
from jupyterhub.utils import url_path_join
from tornado.web import HTTPError
from traitlets import Dict, Unicode

from autograder.feedback.files import replace_text
from autograder.feedback.page import document
from autograder.launch import platforms
from autograder.launch.flow import Launch, LaunchError, LaunchFlow, WebRequest

CHOICE = """<p>Each becomes a link and a column of marks in your course.</p>
<form method="post" action="{action}"><input type="hidden" name="launch" value="{launch}">
{rows}<button>Add to the course</button></form>"""
STYLE = (
    "label{display:flex;gap:.6rem;align-items:center;padding:.45rem 0;border-bottom:1px solid var(--tfk-line)}"
    "label span{margin-left:auto;color:var(--tfk-ink-soft);font-variant-numeric:tabular-nums}main{max-width:30rem}"
    "input{width:1.1rem;height:1.1rem}button{font:inherit;margin-top:1.2rem;padding:.5rem 1.1rem;cursor:pointer;"
    "border:0;border-radius:var(--tfk-r2);background:var(--tfk-accent);color:var(--tfk-on-accent)}"
)


class LTIAuthenticator(Authenticator):
    """Logs in users whom a platform of `platforms.toml` launches, and puts them into the group of their course."""

    platforms_file = Unicode(help="The path of platforms.toml, which docs/lti.md describes.").tag(config=True)
    assignments = Dict(help="Course → {assignment: points}: what a deep link offers.").tag(config=True)
    auto_login = True
    manage_groups = True
    allow_all = True  # every user whom a platform launches

    def __init__(self, **kw: Any) -> None:
        super().__init__(**kw)
        self.flow = LaunchFlow(platforms.read(Path(self.platforms_file)))

    def login_url(self, base_url: str) -> str:
        """The address of the page for users who come without a launch."""
        return url_path_join(base_url, "lti/start")

    def get_handlers(self, app: Any) -> list[tuple[str, type]]:
        """The handlers below /hub."""
        return [("/lti/login", LoginHandler), ("/lti/launch", LaunchHandler), ("/lti/choose", ChoiceHandler),
                ("/lti/jwks", KeysHandler), ("/lti/start", StartHandler)]  # fmt: skip

    async def authenticate(self, handler: Any, data: Launch) -> dict[str, Any]:
        """The Hub's user for a validated launch, with the group `course-NAME`, and `teaches-NAME` for teachers."""
        groups = [f"course-{data.course}"] + [f"teaches-{data.course}"] * data.teaches
        return {"name": data.user, "groups": groups}

    def save_services(self, launch: Launch) -> None:
        """Write the services' addresses to STATE/COURSE.toml, for `autograder passback` and `autograder roster`."""
        if not launch.lineitems or not launch.members:
            return
        known = self.flow.platforms
        registration = known.tool.find_registration_by_params(launch.issuer, launch.client_id)
        entry = {"issuer": launch.issuer, "client_id": launch.client_id, "lineitems": launch.lineitems,
                "members": launch.members, "token_url": str(registration.get_auth_token_url()),
                "key_file": str(known.key_file.resolve())}  # fmt: skip
        if audience := registration.get_auth_audience():
            entry["audience"] = audience
        names = known.users[launch.issuer, launch.client_id]
        entry |= {"name": names.platform} if names.platform else {}
        text = "".join(f"{name} = {_quoted(value)}\n" for name, value in entry.items())
        if names.use_email is not None:
            text += f"use_email = {str(names.use_email).lower()}\n"
        path = known.state / f"{launch.course}.toml"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            replace_text(path, text, 0o640)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    if any(ord(letter) < 32 for letter in escaped):
        raise LaunchError("the platform's addresses contain control characters")
    return f'"{escaped}"'


class LTIHandler(BaseHandler):
    """The base class of the handlers below."""

    authenticator: LTIAuthenticator

    def check_xsrf_cookie(self) -> None:
        """Not checked: a launch comes from another site, and its state, nonce and signature are verified instead."""

    def request_parts(self) -> WebRequest:
        """The parts of the request that `flow` needs."""
        parameters = {name: self.get_argument(name) for name in self.request.arguments}
        cookies = {name: morsel.value for name, morsel in self.request.cookies.items()}
        return WebRequest(parameters, cookies, self.request.protocol == "https")

    def address(self, name: str) -> str:
        """The public URL of one of these handlers, for the platform."""
        where = f"{self.request.protocol}://{self.request.host}"
        return where + url_path_join(self.hub.base_url, "lti", name)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Shows the error as one line."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        message = error.log_message if isinstance(error, HTTPError) and error.log_message else self._reason
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{message}\n")


class LoginHandler(LTIHandler):
    """The start of a login: redirects the browser to the platform's own login."""

    def get(self) -> None:
        """As for a POST request."""
        self.post()

    def post(self) -> None:
        """Redirect the browser to the platform's login page."""
        try:
            where, cookies = self.authenticator.flow.login(self.request_parts(), self.address("launch"))
        except LaunchError as error:
            raise HTTPError(403, str(error)) from error
        secure = self.request.protocol == "https"
        for name, (value, seconds) in cookies.items():  # a POST from another site gets no Lax cookies
            more = {"samesite": "None", "secure": True} if secure else {}
            self.set_cookie(name, value, max_age=seconds, httponly=True, path="/", **more)
        self.redirect(where)


class LaunchHandler(LTIHandler):
    """Receives a launch, and sends the user to their server or to a choice of assignments."""

    async def post(self) -> None:
        """Validate the launch, log the user in, and redirect to their server."""
        try:
            launch = self.authenticator.flow.launch(self.request_parts())
            if launch.deep_link:
                return self._offer(launch)
            self.authenticator.save_services(launch)
        except LaunchError as error:
            raise HTTPError(403, str(error)) from error
        if await self.login_user(launch) is None:
            raise HTTPError(403, f"{launch.user} is not allowed to log in")
        self.redirect(url_path_join(self.hub.base_url, "user-redirect", launch.target))

    def _offer(self, launch: Launch) -> None:
        if not launch.teaches:
            raise LaunchError("only an instructor of the course can add assignments to it")
        offered = self.authenticator.assignments.get(launch.course, {})
        self.finish(choice(offered, self.address("choose"), launch.launch_id))


def choice(offered: Mapping[str, float], action: str, launch: str) -> str:
    """The page on which an instructor chooses among the assignments of a course; `action` gets the form."""
    if not offered:
        none = "<p>This Hub offers no assignments for this course: its administrator names them in <code>c.LTIAuthenticator.assignments</code>.</p>"  # noqa: E501
        return document("Choose assignments", none, STYLE)
    rows = "".join(map(_row, offered.items()))
    form = CHOICE.format(action=html.escape(action), launch=html.escape(launch), rows=rows)
    return document("Choose assignments", form, STYLE)


def _row(offer: tuple[str, float]) -> str:
    name, points = html.escape(offer[0]), f"{offer[1]:g} point{'' if offer[1] == 1 else 's'}"
    return f'<label><input type="checkbox" name="assignment" value="{name}">{name}<span>{points}</span></label>\n'


class ChoiceHandler(LTIHandler):
    """Sends the chosen assignments back to the platform."""

    def post(self) -> None:
        """A form that submits itself to the platform."""
        wanted = self.get_arguments("assignment")
        offered = {name: points for one in self.authenticator.assignments.values() for name, points in one.items()}
        if not wanted or any(name not in offered for name in wanted):
            raise HTTPError(400, "choose some of the assignments that were offered")
        try:
            chosen = {name: offered[name] for name in wanted}
            page = self.authenticator.flow.choose(self.get_argument("launch"), self.address("launch"), chosen)
        except LaunchError as error:
            raise HTTPError(403, str(error)) from error
        self.set_header("Content-Security-Policy", "frame-ancestors 'self'")  # a script submits the form
        self.finish(page)


class KeysHandler(LTIHandler):
    """The tool's public keys."""

    def get(self) -> None:
        """The public keys as a JSON Web Key Set (RFC 7517)."""
        self.finish(self.authenticator.flow.keys())


class StartHandler(LTIHandler):
    """The page for users who come without a launch."""

    def get(self) -> None:
        """A sentence that says where to start."""
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish("Open this from your course in the learning management system.\n")
