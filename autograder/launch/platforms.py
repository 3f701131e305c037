"""`platforms.toml`: the platforms that may launch, and which course here belongs to each of their courses.

docs/lti.md has an example and describes every key.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from pylti1p3.exception import LtiException
from pylti1p3.tool_config import ToolConfDict

LOCAL = ("localhost", "127.0.0.1")
TEXTS = ("issuer", "client_id", "login_url", "token_url", "keys_url")
PREFIX = re.compile(r"[a-z][a-z0-9]*")  # without the hyphen that ends it, so that no two user names can be the same


class BadPlatforms(Exception):
    """The file is not valid; the message says what is wrong with it."""


class PlatformRegistry(ToolConfDict):
    """PyLTI1p3's configuration, but an unknown issuer or client raises LtiException."""

    def get_iss_config(self, iss: str, client_id: str | None = None) -> Any:
        """See the parent class. Raises LtiException for an unknown platform."""
        config: dict[str, Any] = self._config or {}
        known = [one["client_id"] for one in config.get(iss, [])]
        if not known or (client_id and client_id not in known):
            raise LtiException(f"platforms.toml has no platform {iss} with client id {client_id}")
        return super().get_iss_config(iss, client_id)


@dataclass(frozen=True)
class UsernamePolicy:
    """How `flow.username` calls a platform's users: its name, which begins theirs, and whether e-mail addresses count;
    None: if the platform has no name, and so is the only one."""

    platform: str = ""
    use_email: bool | None = None


@dataclass(frozen=True)
class Platforms:
    """The file's contents: PyLTI1p3's configuration, our course by (issuer, context id), user names by (issuer, client
    id), the key's file, the folder for state."""

    tool: PlatformRegistry
    courses: dict[tuple[str, str], str]
    users: dict[tuple[str, str], UsernamePolicy]
    key_file: Path
    state: Path


def read(path: Path) -> Platforms:
    """The platforms of a file. Raises BadPlatforms if the file or its key cannot be read."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        known = raw["platform"]
        key_file, state = path.parent / raw["key_file"], path.parent / raw["state"]
        key = key_file.read_bytes()
        public = load_pem_private_key(key, None).public_key()
    except (OSError, ValueError, TypeError) as error:
        raise BadPlatforms(f"{path} or its key cannot be read: {error}") from None
    except KeyError as error:
        raise BadPlatforms(f"{path} must have key_file, state and a table [[platform]]; it lacks {error}") from None
    tool = PlatformRegistry(_configuration(path, known))
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    for one in known:
        tool.set_private_key(one["issuer"], key.decode(), client_id=one["client_id"])
        tool.set_public_key(one["issuer"], pem, client_id=one["client_id"])
    courses = {(one["issuer"], str(context)): str(name)
               for one in known for context, name in one.get("courses", {}).items()}  # fmt: skip
    return Platforms(tool, courses, _user_names(path, known), key_file, state)


def _configuration(path: Path, known: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in known:
        if lacking := [name for name in (*TEXTS, "deployments") if not one.get(name)]:
            raise BadPlatforms(f"{path}: a [[platform]] must have {', '.join((*TEXTS, 'deployments'))}; "
                               f"one lacks {', '.join(lacking)}")  # fmt: skip
        for name in ("login_url", "token_url", "keys_url"):
            parts = urlsplit(one[name])
            if parts.scheme != "https" and parts.hostname not in LOCAL:
                raise BadPlatforms(f"{path}: {name} must begin with https://, since logins and keys come from there")
        found.setdefault(one["issuer"], []).append({
            "default": one["issuer"] not in found, "client_id": one["client_id"], "auth_login_url": one["login_url"],
            "auth_token_url": one["token_url"], "auth_audience": one.get("audience"), "key_set_url": one["keys_url"],
            "deployment_ids": [str(deployment) for deployment in one["deployments"]],
        })  # fmt: skip
    return found


def _user_names(path: Path, known: list[dict[str, Any]]) -> dict[tuple[str, str], UsernamePolicy]:
    """The names by (issuer, client id). Raises BadPlatforms if users of two platforms could get the same name."""
    found: dict[tuple[str, str], UsernamePolicy] = {}
    issuers: dict[str, str] = {}
    for one in known:
        name, use_email, issuer = one.get("name", ""), one.get("use_email"), one["issuer"]
        if not isinstance(name, str) or (name and not PREFIX.fullmatch(name)):
            raise BadPlatforms(
                f"{path}: name = {name!r} must be lower-case letters and digits, beginning with a letter"
            )
        if not isinstance(use_email, bool | None):
            raise BadPlatforms(f"{path}: use_email must be true or false, not {use_email!r}")
        if not name and len(known) > 1:
            raise BadPlatforms(f"{path}: with several platforms each needs a name, with which its users' names begin; "
                               f"{issuer} with client id {one['client_id']} lacks one")  # fmt: skip
        if issuers.setdefault(name, issuer) != issuer:
            raise BadPlatforms(f"{path}: name = {name!r} is used for two issuers, {issuers[name]} and {issuer}")
        found[issuer, one["client_id"]] = UsernamePolicy(name, use_email)
    return found
