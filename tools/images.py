"""The digests of the images that the Dockerfile builds on: `python -m tools.images`, or `python -m tools.images pin`.

A tag moves: the same Dockerfile then gives another image. `pin` asks the tag's registry, by the protocol of the OCI
distribution specification, which image it names now, and writes that digest behind it. Without an argument each image
without a digest is a line, and a release is refused (`tools.release`).
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[1]
DOCKERFILE = "Dockerfile"
ARGUMENT = re.compile(r"^ARG (\w+)=(\S+)$", re.MULTILINE)
STAGE = re.compile(r"^FROM (?:--\S+ )*(\S+)(?: +AS +(\S+))?", re.MULTILINE | re.IGNORECASE)
PINNED = re.compile(r"@sha256:[0-9a-f]{64}$")
HUB = "registry-1.docker.io"  # where names without a registry lead
INDEXES = "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"
TIMEOUT_S = 30


class ImageError(RuntimeError):
    """A registry did not say what a tag names; the message says which, and why."""


@dataclass(frozen=True)
class Image:
    """A tag of a repository in a registry."""

    registry: str
    repository: str
    tag: str

    @classmethod
    def parse(cls, name: str) -> Image:
        """Of a name such as python:3.11-slim or ghcr.io/owner/name:1; a digest behind it is left out."""
        name = name.partition("@")[0]
        host, slash, rest = name.partition("/")
        if not slash or not ("." in host or ":" in host or host == "localhost"):  # no registry, but an owner or nobody
            host, rest = HUB, name if slash else f"library/{name}"
        repository, _, tag = rest.partition(":")
        return cls(host, repository, tag or "latest")


def images(dockerfile: str) -> dict[str, str]:
    """The images that its stages build on, each under the argument that names it, or under itself; no stages."""
    arguments, stages, found = dict(ARGUMENT.findall(dockerfile)), set(), {}
    for base, stage in STAGE.findall(dockerfile):
        name = base.strip("${}") if base.startswith("$") else base
        if name not in stages:
            found[name] = arguments.get(name, name)
        stages.add(stage)
    return found


def faults(root: Path = ROOT) -> Iterator[str]:
    """A line for each image of the Dockerfile that has no digest."""
    for name, image in images((root / DOCKERFILE).read_text(encoding="utf-8")).items():
        if not PINNED.search(image):
            yield f"{DOCKERFILE}: {name} = {image} has no digest, and the tag moves: `make pin-images` writes it"


def digest(image: Image) -> str:
    """The digest of what the tag names now, for all platforms. Raises ImageError."""
    scheme = "http" if image.registry.partition(":")[0] in ("localhost", "127.0.0.1") else "https"
    address = f"{scheme}://{image.registry}/v2/{image.repository}/manifests/{image.tag}"
    where = f"{image.registry}/{image.repository}:{image.tag}"
    try:
        body, said = _manifest(address)
    except (OSError, HTTPException, ValueError, KeyError) as error:
        raise ImageError(f"{where} cannot be asked for: {type(error).__name__}: {error}") from error
    found = f"sha256:{hashlib.sha256(body).hexdigest()}"
    if said and said != found:
        raise ImageError(f"{where}: the registry says {said}, and what it sends has {found}")
    return found


def _manifest(address: str) -> tuple[bytes, str]:
    """The index behind the address and the digest that the registry says it has, with a token if it wants one."""
    headers = {"Accept": INDEXES}
    for attempt in (1, 2):
        try:
            with urlopen(Request(address, headers=headers), timeout=TIMEOUT_S) as reply:
                return reply.read(), reply.headers.get("Docker-Content-Digest", "")
        except HTTPError as error:
            challenge = error.headers.get("WWW-Authenticate", "")
            if attempt > 1 or error.code != HTTPStatus.UNAUTHORIZED or not challenge.startswith("Bearer "):
                raise
        asked = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
        query = urlencode({key: asked[key] for key in ("service", "scope") if key in asked})
        with urlopen(f"{asked['realm']}?{query}", timeout=TIMEOUT_S) as reply:
            said = json.load(reply)
        headers["Authorization"] = f"Bearer {said.get('token') or said['access_token']}"
    raise AssertionError("not reached")


def pin(root: Path = ROOT) -> Iterator[str]:
    """Write the digest of each tag of today behind it -> a line for each. Raises ImageError, before it writes."""
    path = root / DOCKERFILE
    text = path.read_text(encoding="utf-8")
    pinned = {image: f"{image.partition('@')[0]}@{digest(Image.parse(image))}" for image in {*images(text).values()}}
    for old, new in pinned.items():
        text = re.sub(rf"(?<=[= ]){re.escape(old)}(?=\s)", new, text)
    path.write_text(text, encoding="utf-8")
    yield from sorted(pinned.values())


def main(arguments: Sequence[str]) -> int:
    """1 with a line for each fault, else 0."""
    if arguments not in ([], ["pin"]):
        print("usage: python -m tools.images [pin]", file=sys.stderr)
        return 2
    try:
        for line in pin() if arguments else ():
            print(line)
    except ImageError as error:
        print(f"images: {error}", file=sys.stderr)
        return 1
    found = list(faults())
    for fault in found:
        print(f"images: {fault}", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
