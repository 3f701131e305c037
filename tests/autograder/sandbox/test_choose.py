"""Which sandbox is chosen, and what is said when none holds."""

from __future__ import annotations

import importlib.metadata
import inspect
import socket
import subprocess
import sys

import pytest
import torch

from autograder import doctor, sandbox
from autograder.api import Limits
from autograder.sandbox.base import Backend, SandboxError, WarmBackend
from autograder.sandbox.bubblewrap import distributions, find_bwrap, top_level_entries
from autograder.sandbox.bubblewrap_alone import BubblewrapOnly
from autograder.sandbox.client import Cell, SandboxClient
from autograder.sandbox.inside import seccomp, zygote
from autograder.sandbox.plain import Subprocess


def test_untrusted_code_never_gets_a_plain_process(monkeypatch):
    def broken(self):
        raise SandboxError(f"{self.name}: no user namespaces here")

    for kind in sandbox.backends():
        if kind.isolated:
            monkeypatch.setattr(kind, "probe", broken)
    monkeypatch.setattr(sandbox, "_chosen", {})
    with pytest.raises(SandboxError, match="no user namespaces here.*install bubblewrap"):
        sandbox.choose()
    chosen = sandbox.choose(trust=True)
    assert chosen.name == "subprocess" and not chosen.isolated
    chosen.close()


def test_sandboxes_are_found_without_loading_torch():
    """A process that waits for a check first starts its box, which then loads torch at the same time as the process."""
    code = "import sys; from autograder import sandbox; print(bool(sandbox.backends()), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def subclasses(kind: type[Backend]) -> set[type[Backend]]:
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def test_each_sandbox_of_this_package_is_listed_by_its_module():
    """One that is not would never be chosen, and nothing would say so."""
    modules = sandbox._modules()
    ours = {kind for kind in subclasses(Backend) if kind.__module__ in {module.__name__ for module in modules}}
    listed = [kind for module in modules for kind in getattr(module, "BACKENDS", ())]
    assert {kind for kind in ours if not inspect.isabstract(kind)} == set(listed) and len(listed) == len(set(listed))


@pytest.mark.skipif(sys.platform != "linux", reason="no warm process elsewhere")
@pytest.mark.parametrize("error", [PermissionError(1, "Operation not permitted"), TimeoutError("timed out")])
@pytest.mark.parametrize("step", ["_launch", "_warm"])
def test_a_sandbox_that_the_system_refuses_is_passed_over(step, error, monkeypatch):
    """Such as a process of another user without CAP_SETUID, or one that is not ready in time."""

    def refused(self):
        raise error

    strongest = next(kind for kind in sandbox.backends() if kind.isolated)
    monkeypatch.setattr(sandbox, "backends", lambda: [strongest, Subprocess])
    monkeypatch.setattr(sandbox, "_chosen", {})
    monkeypatch.setattr(sandbox, "_launched", [])
    monkeypatch.setattr(strongest, step, refused)
    chosen = sandbox.choose(trust=True)
    assert chosen.name == "subprocess"
    chosen.close()
    with pytest.raises(SandboxError, match=f"{strongest.name}: .*{error.args[-1]}"):
        sandbox.choose()
    (line,) = doctor._sandbox(strongest)
    assert "not available" in line and error.args[-1] in line


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_where_the_system_has_no_bubblewrap_the_installed_package_brings_it(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    done = subprocess.run([find_bwrap(), "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("bubblewrap ")


@pytest.mark.skipif(sys.platform != "linux", reason="no warm process elsewhere")
def test_the_warm_process_loads_torch_while_the_grader_does(monkeypatch):
    """The probe imports torch, and waits for a process that has imported it too: it is started before."""
    started = []
    monkeypatch.setattr(Backend, "probe", lambda self: started.append(self._process.poll() is None))
    monkeypatch.setattr(sandbox, "_chosen", {})
    backend = sandbox.choose(trust=True)
    launched = backend._process
    with SandboxClient(backend, Limits()) as student:
        assert student.ping() and backend._process is launched
    sandbox.close_all()
    assert started == [True] and launched.returncode is not None


@pytest.mark.skipif(sys.platform != "linux", reason="no warm process elsewhere")
def test_what_is_launched_ahead_is_what_is_chosen_unless_boxes_need_more_packages(monkeypatch):
    monkeypatch.setattr(sandbox, "_chosen", {})
    monkeypatch.setattr(sandbox, "_launched", [])
    sandbox.launch(trust=True)
    (ahead,) = sandbox._launched
    sandbox.launch(trust=True)
    other = sandbox.choose(trust=True, packages=["rich"])
    assert sandbox._launched == [ahead] and other is not ahead and other.packages == ("rich",)
    assert sandbox.choose(trust=True) is ahead and sandbox._launched == [] and ahead.alive
    sandbox.close_all()


def test_a_backend_that_cannot_start_is_not_launched_ahead(monkeypatch):
    def broken(self):
        raise SandboxError("no control groups here")

    monkeypatch.setattr(sandbox, "_chosen", {})
    monkeypatch.setattr(sandbox, "_launched", [])
    first, second = sandbox.backends()[:2]
    monkeypatch.setattr(first, "launch", broken)
    monkeypatch.setattr(second, "launch", lambda self: None)
    sandbox.launch(trust=True)
    assert [type(backend) for backend in sandbox._launched] == [second]


@pytest.mark.skipif(sys.platform != "linux", reason="no warm process elsewhere")
def test_what_few_boxes_use_is_imported_in_a_pause_or_after_the_first_boxes(monkeypatch):
    imported, (ours, theirs) = [], socket.socketpair()
    monkeypatch.setattr(zygote, "import_optional", imported.append)
    monkeypatch.setattr(zygote.gc, "freeze", lambda: None)
    monkeypatch.setattr(zygote, "IDLE_MS", 10)
    with ours, theirs:
        zygote.import_later(theirs, 0, list(zygote.LATER))
        assert imported == list(zygote.LATER) and "matplotlib_inline.config" in imported
        imported.clear()
        ours.send(b"a request")
        zygote.import_later(theirs, 0, list(zygote.LATER))
        assert imported == []
        zygote.import_later(theirs, zygote.SOON, list(zygote.LATER))
        assert imported == list(zygote.LATER)


@pytest.mark.skipif(sys.platform != "linux", reason="no warm process elsewhere")
def test_a_box_that_is_asked_for_what_it_holds_finds_all_of_it_imported():
    """The first call of a checkpoint would import torch's compiler, 70 MB, which are not the answer's."""
    backend = sandbox.choose()
    backend.import_all()
    backend.import_all()  # once is enough
    with SandboxClient(backend) as student:
        outcome = student.run_cells([Cell("a", CHECKPOINT)])[0]
        assert outcome.error is None
        student.steady_memory()
        with student.measure() as used:
            new = student.call("new_modules")
    assert not any(name.startswith(("torch._dynamo", "torch.fx", "sympy")) for name in new) and len(new) < 10, new
    if student.is_metered:
        assert used.grown_bytes < 16 << 20


def test_a_box_converts_half_precision():
    """torch reads /proc/cpuinfo at the first conversion, and fails where there is none."""
    with SandboxClient(sandbox.choose()) as student:
        student.run_cells([Cell("a", "def widened(x):\n    return x.float().mean(-1)")])
        assert torch.equal(student.call("widened", torch.ones(2, 3, dtype=torch.float16)), torch.ones(2))


CHECKPOINT = """
import sys, torch
from torch.utils.checkpoint import checkpoint

def new_modules():
    before = set(sys.modules)
    x = torch.ones(2, requires_grad=True)
    checkpoint(torch.exp, x, use_reentrant=False).sum().backward()
    torch.optim.SGD([x]).step()
    return sorted(name for name in set(sys.modules) - before if name.startswith(("torch.", "sympy")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no warm process elsewhere")
def test_one_that_does_not_start_is_ended_and_says_why(monkeypatch):
    backend = Subprocess()
    monkeypatch.setattr(backend, "command", lambda *_: [sys.executable, "-c", "raise SystemExit('no torch here')"])
    with pytest.raises(SandboxError, match="no torch here"):
        backend.probe()
    backend.close()


def test_isolated_ones_come_first():
    kinds = sandbox.backends()
    assert [kind.isolated for kind in kinds] == sorted((kind.isolated for kind in kinds), reverse=True)


@pytest.mark.parametrize("kind", sandbox.backends(), ids=lambda kind: kind.name)
def test_each_says_what_it_holds(kind):
    try:
        said = kind().describe()
    except SandboxError as error:
        pytest.skip(str(error))
    assert {"backend", "network", "filesystem", "processes", "memory", "time", "missing"} <= set(said)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("how", [("namespaces", False), ("namespaces", True), ("landlock", True)])
def test_the_filter_jumps_within_itself(machine, how):
    steps = seccomp.program(machine, *how)
    assert len(steps) < 4096
    for place, (code, true, false, _) in enumerate(steps):
        if code & 0x07 == 0x05:
            assert place + 1 + max(true, false) < len(steps)


def test_a_box_can_be_asked_for_by_name(monkeypatch):
    monkeypatch.setattr(sandbox, "_chosen", {})
    with pytest.raises(SandboxError, match="no sandbox 'docket'; available: bubblewrap, "):
        sandbox.choose(name="docket")
    with pytest.raises(SandboxError, match="no sandbox works here"):
        sandbox.choose(name="subprocess")


def test_a_box_without_control_groups_is_still_bounded():
    """Memory that is shared belongs to no process's own limit; a process outside adds it up."""
    backend = BubblewrapOnly()
    try:
        WarmBackend.probe(backend)
    except SandboxError as error:
        pytest.skip(f"not here: {error}")
    body = "import mmap\nkept = []\nfor n in range(20):\n    kept.append(mmap.mmap(-1, 1 << 27))\n"
    body += "    kept[-1].write(bytes(1 << 27))\n"
    with SandboxClient(backend, Limits(memory_mb=256, call_s=20)) as student:
        outcome = student.run_cells([Cell("a", body)])[0]
    backend.close()
    assert outcome.lost and outcome.error == "memory: the code used more memory than it may and was stopped"


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_packages_that_a_course_names_can_be_imported():
    look = "try:\n    import rich.table\n    there = True\nexcept ImportError:\n    there = False"
    for packages in [(), ("rich",)]:
        backend = BubblewrapOnly()
        backend.packages = packages
        try:
            with SandboxClient(backend, Limits(wall_s=60)) as student:
                student.run_cells([Cell("c", look)])
                assert student.value("there") == bool(packages)
        finally:
            backend.close()


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(SandboxError, match="c.BoxedExecute.packages names no-such-thing, which is not installed here"):
        distributions(["no-such-thing"])


def test_the_top_level_entries_are_those_of_every_file(tmp_path):
    for distribution in distributions():
        assert top_level_entries(distribution) == {file.parts[0] for file in distribution.files or []}
    info = tmp_path / "odd-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: odd\nVersion: 1.0\n")
    (info / "RECORD").write_text('"odd, but allowed/one.py",,\nplain.py,,\n../../bin/odd,,\n')
    found = top_level_entries(importlib.metadata.Distribution.at(info))
    assert found == {"odd, but allowed", "plain.py", ".."}
