"""A platform for tests: it signs launches with a key of its own, whose public half it serves."""

from __future__ import annotations

import json
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership#"


class Platform:
    """An LMS with one course; `token` signs what a launch says."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        keys = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        body = json.dumps({"keys": [keys | {"kid": "platform", "alg": "RS256", "use": "sig"}]}).encode()

        class Keys(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Keys)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def claims(self, nonce: str, role: str = "Learner", **more: object) -> dict:
        """A valid resource launch of Ada's."""
        now = int(time.time())
        return {
            "iss": self.url, "aud": "tool-1", "sub": "u-1", "name": "Ada", "email": "ada@example.org", "nonce": nonce,
            "iat": now, "exp": now + 300, f"{CLAIM}deployment_id": "1", f"{CLAIM}version": "1.3.0",
            f"{CLAIM}message_type": "LtiResourceLinkRequest", f"{CLAIM}roles": [f"{MEMBERSHIP}{role}"],
            f"{CLAIM}resource_link": {"id": "r-1"}, f"{CLAIM}context": {"id": "c-7"},
            f"{CLAIM}target_link_uri": "http://hub/hub/lti/launch", f"{CLAIM}lis": {"person_sourcedid": "ada"},
            "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint": {
                "scope": ["https://purl.imsglobal.org/spec/lti-ags/scope/score"], "lineitems": f"{self.url}/columns"},
            "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice": {
                "context_memberships_url": f"{self.url}/members", "service_versions": ["2.0"]},
        } | more  # fmt: skip

    def deep_link(self, nonce: str, role: str = "Instructor") -> dict:
        """An instructor who is to choose what the course links to."""
        settings = {"deep_link_return_url": f"{self.url}/return", "accept_types": ["ltiResourceLink"],
                    "accept_presentation_document_targets": ["window"], "data": "opaque"}  # fmt: skip
        said = self.claims(nonce, role) | {f"{CLAIM}message_type": "LtiDeepLinkingRequest"}
        del said[f"{CLAIM}resource_link"]
        return said | {"https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings": settings}

    def token(self, claims: dict, key=None) -> str:
        """The claims, signed."""
        return jwt.encode(claims, key or self.key, "RS256", headers={"kid": "platform"})

    def login(self) -> dict[str, str]:
        """What a platform sends first."""
        return {"iss": self.url, "login_hint": "u-1", "client_id": "tool-1", "lti_deployment_id": "1",
                "target_link_uri": "http://hub/hub/lti/launch", "lti_message_hint": uuid.uuid4().hex}  # fmt: skip

    def table(self, more: str = "") -> str:
        """Its table in `platforms.toml`, with more lines."""
        return (
            f'[[platform]]\nissuer = "{self.url}"\nclient_id = "tool-1"\n'
            f'login_url = "{self.url}/login"\ntoken_url = "{self.url}/token"\nkeys_url = "{self.url}/keys"\n'
            f'deployments = ["1"]\n{more}[platform.courses]\n"c-7" = "tfkit"\n"c-8" = "nlp"\n'
        )

    def file(self, folder: Path, *tables: str) -> Path:
        """`platforms.toml` with these tables, or else its own, and the tool's key."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        words = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        (folder / "lti.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *words))
        path = folder / "platforms.toml"
        path.write_text('key_file = "lti.pem"\nstate = "state"\n' + "".join(tables or [self.table()]))
        return path


def served():
    found = Platform()
    yield found
    found.server.shutdown()
    found.server.server_close()


platform = pytest.fixture(served, name="platform")
other_platform = pytest.fixture(served, name="other_platform")


def answer(url: str) -> dict[str, str]:
    """The parameters of an address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
