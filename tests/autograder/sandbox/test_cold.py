"""Boxes that are programs of their own: the conversation for real in bubblewrap, the engines by their command lines."""

from __future__ import annotations

import io
import json
import os
import tarfile
from pathlib import Path

import pytest
import torch

from autograder.api import Limits
from autograder.sandbox import SandboxError
from autograder.sandbox.base import interpreter
from autograder.sandbox.bubblewrap import Bubblewrap, find_bwrap
from autograder.sandbox.client import Cell, SandboxClient, StudentError
from autograder.sandbox.cold import ColdBackend
from autograder.sandbox.container import Docker, Podman, binds, empty_image, hidden
from autograder.sandbox.gvisor import GVisor

ROOT = Path(__file__).resolve().parents[3]
LIMITS = Limits(memory_mb=300, processes=7, call_s=20)


class Cold(ColdBackend):
    """The program of a container, in bubblewrap."""

    name = "cold"

    def command(self, name, limits, program):
        return [find_bwrap(), *Bubblewrap.namespaces(), *Bubblewrap().filesystem(), "--", interpreter(), *program]

    def remove(self, name):
        return ["true"]

    def describe(self):
        return {}


@pytest.fixture(scope="module")
def cold():
    backend = Cold()
    try:
        backend.probe()
    except SandboxError as error:
        pytest.skip(f"this machine has no bubblewrap sandbox: {error}")
    return backend


def test_a_box_of_its_own_answers_and_says_how_it_ended(cold):
    code = "import os, torch\ndef f(x):\n    print('a frame?')\n    os.write(1, b'noise')\n    return x * 2\n"
    code += "def leave():\n    os._exit(5)"
    with SandboxClient(cold, LIMITS) as student:
        assert student.run_cells([Cell("a", code)])[0].error is None
        x = torch.randn(300, 300)
        assert torch.equal(student.call("f", x), x * 2)
        with pytest.raises(StudentError, match="status 5") as caught:
            student.call("leave")
    assert caught.value.kind == "crash"


def options(words, name):
    return [value for word, value in zip(words, words[1:], strict=False) if word == name]


@pytest.mark.parametrize("kind", [Docker, Podman])
def test_a_container_gets_nothing_but_what_it_needs(kind):
    words = kind().command("box-1", LIMITS, ["-I", "x.py"])
    assert words[:2] == [kind.engine, "run"] and words[-3:] == ["tfkit-box", "-I", "x.py"]
    assert {"--read-only", "--rm", "--interactive"} <= set(words) and "--privileged" not in words
    wanted = {"--network": "none", "--cap-drop": "ALL", "--security-opt": "no-new-privileges", "--memory": "556m",
              "--memory-swap": "556m", "--pids-limit": "10", "--user": "65534:65534", "--name": "box-1"}  # fmt: skip
    assert {name: options(words, name) for name in wanted} == {name: [value] for name, value in wanted.items()}
    mounts = options(words, "--mount")
    assert mounts and all(mount.endswith(",readonly") for mount in mounts)
    assert kind().remove("box-1") == [kind.engine, "rm", "--force", "box-1"]


def test_the_project_is_not_bound():
    shown = [Path(source) for source in binds().values()]
    for secret in (ROOT / "tfkit", ROOT / "autograder" / "grade" / "run.py", Path.home() / ".ssh"):
        covered = any(secret.is_relative_to(place) for place in hidden())
        assert covered or not any(secret.is_relative_to(place) for place in shown), secret
    assert not {"tfkit", "autograder", "nbgrader"} & {Path(place).name for place in binds()}


def test_the_image_is_empty():
    with tarfile.open(fileobj=io.BytesIO(empty_image())) as archive:
        assert all(entry.issym() for entry in archive)


def test_a_bundle_gets_nothing_but_what_it_needs():
    made = GVisor().bundle(LIMITS, ["-I", "x.py"])
    json.dumps(made)
    assert made["root"]["readonly"] and made["process"]["noNewPrivileges"]
    assert not any(made["process"]["capabilities"].values())
    assert all("ro" in mount["options"] for mount in made["mounts"] if mount["type"] == "bind")
    assert {"network", "pid", "mount", "ipc"} <= {space["type"] for space in made["linux"]["namespaces"]}
    words = GVisor().command("box-1", LIMITS, [])
    assert "--network=none" in words and "--rootless" in words and words[-1] == "box-1"


def test_each_says_why_it_is_not_here(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for kind, said in (
        (Docker, "docker: docker is not installed"),
        (Podman, "podman: podman is not installed"),
        (GVisor, "gvisor: runsc is not installed"),
    ):
        with pytest.raises(SandboxError, match=said):
            kind().probe()
    engine = tmp_path / "docker"
    engine.write_text("#!/bin/sh\necho 'Cannot connect to the daemon' >&2\nexit 1\n")
    os.chmod(engine, 0o755)
    with pytest.raises(SandboxError, match="docker: Cannot connect to the daemon"):
        Docker().probe()
    (tmp_path / "runsc").write_text("#!/bin/sh\necho 'no such platform' >&2\nexit 1\n")
    os.chmod(tmp_path / "runsc", 0o755)
    with pytest.raises(SandboxError, match="gvisor: no such platform"):
        GVisor().probe()
