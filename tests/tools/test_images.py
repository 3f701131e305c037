"""The digests of base images: a registry of this test answers as the OCI distribution specification says."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.client import IncompleteRead
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools import images, release
from tools.images import Image, ImageError

INDEX = b'{"schemaVersion": 2, "manifests": []}'
DIGEST = f"sha256:{hashlib.sha256(INDEX).hexdigest()}"
DOCKERFILE = """\
ARG BUILD={at}/library/python:3.11
ARG BASE={at}/library/python:3.11
FROM ${{BUILD}} AS wheel
FROM ${{BASE}} AS grader
FROM grader AS lab
"""


class Registry(BaseHTTPRequestHandler):
    """Gives tokens to all, and the index of one tag to whoever has one."""

    said, token = DIGEST, "token"

    def do_GET(self) -> None:
        at = f"http://{self.headers['Host']}"
        if self.path == "/token?service=tests&scope=repository%3Alibrary%2Fpython%3Apull":
            self.reply(200, json.dumps({self.token: "abc"}).encode())
        elif self.headers["Authorization"] != "Bearer abc":
            scope = 'service="tests",scope="repository:library/python:pull"'
            self.reply(401, b"", {"WWW-Authenticate": f'Bearer realm="{at}/token",{scope}'})
        elif self.path == "/v2/library/python/manifests/3.11" and "oci.image.index" in self.headers["Accept"]:
            self.reply(200, INDEX, {"Docker-Content-Digest": self.said})
        else:
            self.reply(404, b"")

    def reply(self, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Nothing into the tests' output."""


@pytest.fixture
def registry() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("name", "image"), [
    ("python:3.11-slim", Image("registry-1.docker.io", "library/python", "3.11-slim")),
    ("owner/name", Image("registry-1.docker.io", "owner/name", "latest")),
    ("ghcr.io/owner/name:1@sha256:00", Image("ghcr.io", "owner/name", "1")),
    ("127.0.0.1:5000/a/b:2", Image("127.0.0.1:5000", "a/b", "2")),
])  # fmt: skip
def test_names_are_read_as_docker_reads_them(name: str, image: Image) -> None:
    assert Image.parse(name) == image


def test_tags_get_the_digest_that_their_registry_has(registry: str, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(DOCKERFILE.format(at=registry))
    build, base = images.faults(tmp_path)
    assert f"BUILD = {registry}/library/python:3.11 has no digest" in build and "make pin-images" in base
    assert [*images.pin(tmp_path)] == [f"{registry}/library/python:3.11@{DIGEST}"]
    assert (tmp_path / "Dockerfile").read_text().count(f":3.11@{DIGEST}\n") == 2
    assert [*images.faults(tmp_path)] == []
    assert [*images.pin(tmp_path)] == [f"{registry}/library/python:3.11@{DIGEST}"]  # and again, for a newer one


def test_a_token_may_have_the_name_that_oauth_gives_it(registry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Registry, "token", "access_token")
    assert images.digest(Image.parse(f"{registry}/library/python:3.11")) == DIGEST


@pytest.mark.parametrize("error", [IncompleteRead(b"{"), ConnectionResetError(104, "reset by peer")])
def test_a_connection_that_breaks_off_is_told(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks_off(address: str) -> tuple[bytes, str]:
        raise error

    monkeypatch.setattr(images, "_manifest", breaks_off)
    with pytest.raises(ImageError, match=f"library/python:3 cannot be asked for: {type(error).__name__}: "):
        images.digest(Image.parse("python:3"))


def test_nothing_is_written_where_a_registry_fails_or_lies(
    registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, said in ((DOCKERFILE.replace("3.11", "4"), "404"), (DOCKERFILE, "the registry says sha256:00")):
        (tmp_path / "Dockerfile").write_text(text.format(at=registry))
        monkeypatch.setattr(Registry, "said", "sha256:00")
        with pytest.raises(ImageError, match=said):
            list(images.pin(tmp_path))
        assert (tmp_path / "Dockerfile").read_text() == text.format(at=registry)


def test_a_stage_that_names_its_image_itself_counts_too() -> None:
    assert images.images("FROM --platform=linux/amd64 debian:13 AS a\nFROM a\n") == {"debian:13": "debian:13"}
    own = (release.ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert {*images.images(own)} == {"BUILD_IMAGE", "BASE_IMAGE"}
