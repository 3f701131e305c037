"""The device nodes of one card, in a pretended machine: /dev, the driver's /proc and its library."""

from __future__ import annotations

import ctypes
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.sandbox import nvidia
from autograder.sandbox.base import SandboxError, interpreter
from autograder.sandbox.bubblewrap import Bubblewrap, find_bwrap

MACHINES = st.permutations(range(6)).flatmap(lambda minors: st.integers(1, 6).map(lambda count: minors[:count]))
INFORMATION = "Model: \t\t NVIDIA A100\nGPU UUID: \t {uuid}\nDevice Minor: \t {minor}\nGPU Excluded:\t No\n"


def uuid(minor):
    return f"GPU-{minor}f00-card"


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A function that makes a machine of cards with these minor numbers, in the order of the bus; a number that is
    `hidden` has no device node."""
    made = iter(range(10**6))

    def make(minors, hidden=()):
        root = tmp_path / str(next(made))
        monkeypatch.setattr(nvidia, "DEV", root / "dev")
        monkeypatch.setattr(nvidia, "DRIVER", root / "driver")
        for bus, minor in enumerate(minors):
            told = INFORMATION.format(uuid=uuid(minor), minor=minor)
            write(root / f"driver/gpus/0000:{bus + 9:02x}:00.0/information", told)
        for name in (*(f"nvidia{minor}" for minor in minors if minor not in hidden), *nvidia.SHARED, "nvidia-modeset"):
            write(root / "dev" / name)
        for gpu, compute, cap in ((1, None, 12), (1, 0, 13), (2, None, 21), (2, 0, 22)):
            place = root / f"driver/capabilities/gpu{minors[0]}/mig/gi{gpu}" / ("" if compute is None else "ci0")
            write(place / "access", f"DeviceFileMinor: {cap}\nDeviceFileMode: 292\nDeviceFileModify: 1\n")
            write(root / f"dev/nvidia-caps/nvidia-cap{cap}")

    return make


def shown(words):
    """What of the host's device nodes bwrap's words show, and where in the box."""
    at = [n for n, word in enumerate(words) if word == "--dev-bind"]
    return {words[n + 2]: words[n + 1] for n in at}


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MACHINES, st.data())
def test_a_box_gets_the_nodes_of_one_card_and_no_others(machine, minors, data):
    machine(minors)
    place = data.draw(st.integers(0, len(minors) - 1))
    name = data.draw(st.sampled_from([str(place), uuid(minors[place]), f"GPU-{minors[place]}f"]))
    rest = data.draw(st.sampled_from(["", ",0", ",1,GPU-0"]))  # one job has one card, though its grader be shown more
    words = nvidia.binds(name + rest)
    own = [f"nvidia{minors[place]}", *nvidia.SHARED]
    assert shown(words) == {f"/dev/{node}": str(nvidia.DEV / node) for node in own}
    assert words[-3:] == ["--setenv", "CUDA_VISIBLE_DEVICES", uuid(minors[place])]


@pytest.mark.parametrize("name", ["", "-1", "2", "NoDevFiles", "GPU-9", "MIG-nothing"])
def test_a_name_of_no_card_shows_none(machine, name):
    machine([1, 0])
    assert nvidia.binds(name) == []


def test_without_the_variable_it_is_the_first_that_can_be_opened(machine):
    machine([3, 0], hidden=[3])
    assert nvidia.binds(None)[-1] == uuid(0)
    machine([3], hidden=[3])
    assert nvidia.binds(None) == []


@pytest.mark.parametrize(("nodes", "found"), [([2], "0"), ([2, 4], None), ([], None)])
def test_where_the_driver_tells_nothing_only_a_card_alone_is_known(tmp_path, monkeypatch, nodes, found):
    monkeypatch.setattr(nvidia, "DEV", tmp_path)
    monkeypatch.setattr(nvidia, "DRIVER", tmp_path / "none")
    for name in (*(f"nvidia{number}" for number in nodes), *nvidia.SHARED):
        write(tmp_path / name)
    card = nvidia.assigned_gpu("0")
    assert card == (nvidia.GPUDevice(found, nodes[0]) if found else None)


class Library:
    """NVML of a card with the minor number 5 and one slice; `fails`: the function that does not work there."""

    def __init__(self, fails=""):
        self.fails, self.ended = fails, 0

    def __getattr__(self, name):
        def function(*given):
            self.ended += name == "nvmlShutdown"
            if name == self.fails or (name.endswith("ByUUID") and given[0] != b"MIG-a"):
                return 6
            answers = {"ByUUID": 0xA, "GpuInstanceId": 2, "ComputeInstanceId": 0, "MigDeviceHandle": 0xB, "Number": 5}
            for end, value in answers.items():
                if name.endswith(end):
                    assert end == "ByUUID" or given[0].value == (0xB if end == "Number" else 0xA)
                    given[1]._obj.value = value
            return 0

        return function


def test_a_slice_gets_its_card_and_its_own_two_nodes_of_access(machine, monkeypatch):
    machine([5, 0])
    library = Library()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    words = nvidia.binds("MIG-a,MIG-b")
    access = [f"nvidia-caps/nvidia-cap{number}" for number in (21, 22)]
    assert list(shown(words)) == [f"/dev/{name}" for name in ("nvidia5", *nvidia.SHARED, *access)]
    assert (words[-1], library.ended) == ("MIG-a", 1)
    assert nvidia.binds("MIG-c") == []


@pytest.mark.parametrize("name", ["nvmlInit_v2", "nvmlDeviceGetComputeInstanceId", "nvmlDeviceGetMinorNumber"])
def test_a_slice_that_the_driver_does_not_tell_of_shows_none(machine, monkeypatch, name):
    machine([5])
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library(fails=name))
    assert nvidia.binds("MIG-a") == []


def test_in_a_box_the_other_cards_nodes_are_not_there(machine, monkeypatch):
    try:
        bwrap = find_bwrap()
    except SandboxError as error:
        pytest.skip(str(error))
    tried = subprocess.run([bwrap, "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True)
    if tried.returncode:
        pytest.skip(f"this machine has no bubblewrap sandbox: {tried.stderr.decode()}")
    machine([0, 1])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    look = "import glob, os; print(sorted(glob.glob('/dev/nvidia*')), os.environ['CUDA_VISIBLE_DEVICES'])"
    command = [bwrap, *Bubblewrap.namespaces(), *Bubblewrap().filesystem(), "--", interpreter(), "-c", look]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    nodes = [f"/dev/{name}" for name in ("nvidia-uvm", "nvidia-uvm-tools", "nvidia1", "nvidiactl")]
    assert (done.stdout.strip(), done.stderr) == (f"{nodes} {uuid(1)}", "")
