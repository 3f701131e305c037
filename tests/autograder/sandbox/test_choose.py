"""Which sandbox is chosen, and what is said when none holds."""

from __future__ import annotations

import pytest

from autograder import sandbox
from autograder.sandbox.base import SandboxError
from autograder.sandbox.bubblewrap import Bubblewrap
from autograder.sandbox.inside import seccomp
from autograder.sandbox.plain import Subprocess


def test_untrusted_code_never_gets_a_plain_process(monkeypatch):
    def broken(self):
        raise SandboxError("bubblewrap: no user namespaces here")

    monkeypatch.setattr(Bubblewrap, "probe", broken)
    monkeypatch.setattr(sandbox, "_chosen", {})
    with pytest.raises(SandboxError, match="no user namespaces here.*install bubblewrap"):
        sandbox.choose()
    chosen = sandbox.choose(trust=True)
    assert chosen.name == "subprocess" and not chosen.isolated
    chosen.close()


def test_isolated_ones_come_first():
    kinds = sandbox.backends()
    assert [kind.isolated for kind in kinds] == sorted((kind.isolated for kind in kinds), reverse=True)


@pytest.mark.parametrize("kind", [Bubblewrap, Subprocess])
def test_each_says_what_it_holds(kind):
    try:
        said = kind().describe()
    except SandboxError as error:
        pytest.skip(str(error))
    assert {"backend", "network", "filesystem", "processes", "memory", "time", "missing"} <= set(said)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_jumps_within_itself(machine):
    steps = seccomp.program(machine)
    assert len(steps) < 4096
    for place, (code, true, false, _) in enumerate(steps):
        if code & 0x07 == 0x05:
            assert place + 1 + max(true, false) < len(steps)
