"""Imports torch and IPython once, then forks one child per box. It runs no student's code and holds no secret.

Started as `python -I -S zygote.py CONTROL_FD CONFIG_JSON`. Each request on the control socket carries two descriptors,
the child's status socket and its frame channel. With `isolate`, a child makes its own user, mount, process, network and
IPC namespaces, its own empty /tmp, and a system call filter before it sees a frame, so that nothing passes from one
child to the next. A child is three processes: a witness outside (reports the exit status), the first process of the
namespace (its death takes all daemons with it), and the agent.
"""

from __future__ import annotations

import array
import ctypes
import gc
import importlib
import importlib.util
import json
import os
import resource
import signal
import socket
import sys
from types import ModuleType
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
NAMESPACES = 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
READ_ONLY, NOSUID, NODEV, NOEXEC, RECURSIVE, PRIVATE = 1, 2, 4, 8, 1 << 14, 1 << 18
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 24, 38, 47
HOST_PROC = "/hostproc"  # only where the grader is root, see bubblewrap.py; covered before student code runs
CHANNEL = 200  # where the frame channel lives, out of the way of what student code opens and closes


def checked(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(kind: str | None, target: str, flags: int, data: str | None = None) -> None:
    name = kind and kind.encode()
    checked(LIBC.mount(name, target.encode(), name, ctypes.c_ulong(flags), data and data.encode()), f"mount {target}")


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def own_namespaces() -> None:
    uid, gid = os.getuid(), os.getgid()
    checked(LIBC.unshare(NAMESPACES), "unshare")
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{uid} {uid} 1")
    write("/proc/self/gid_map", f"{gid} {gid} 1")


def own_mounts(scratch_mb: int) -> None:
    """Empty places to write, and a /proc that shows this box's processes and nothing of the kernel.

    Without `subset=pid` a box that root started could write the kernel's settings: root's user number is enough for it.
    """
    mount(None, "/", PRIVATE | RECURSIVE)
    for place in ("/tmp", "/box", "/dev/shm"):
        mount("tmpfs", place, NOSUID | NODEV, f"size={scratch_mb}m,mode=1777")
    mount("proc", "/proc", NOSUID | NODEV | NOEXEC, "subset=pid")
    if os.path.isdir(HOST_PROC):
        mount("tmpfs", HOST_PROC, NOSUID | NODEV | READ_ONLY, "size=4096,mode=0")


def drop_privileges() -> None:
    for capability in range(64):
        if LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
            break
    LIBC.prctl(PR_CAP_AMBIENT, 4, 0, 0, 0)
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    checked(LIBC.capset(header, data), "capset")
    checked(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def close_all_but(keep: set[int]) -> None:
    low = 0
    for fd in sorted(keep) + [1 << 16]:
        if low < fd:  # closerange(0, 0) closes everything
            os.closerange(low, fd)
        low = fd + 1


def data_bytes() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmData:"))


def set_limits(config: dict[str, Any]) -> None:
    """Memory counts from here: what the zygote already holds is not the student's."""
    memory = data_bytes() + (config["memory_mb"] << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (config["scratch_mb"] << 20,) * 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    if config["isolate"]:  # elsewhere the limit would count the user's other processes too
        resource.setrlimit(resource.RLIMIT_NPROC, (config["processes"],) * 2)
    cpu = int(config["wall_s"]) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))


def watch_over(pid: int) -> int:
    """Reaps every process until `pid` ends; its exit code, 128 + signal where a signal ended it."""
    while True:
        done, status = os.wait()
        if done == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def witness(pid: int, status: socket.socket) -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    close_all_but({status.fileno()})
    code = watch_over(pid)
    try:
        status.send(b"exit %d" % code)
    finally:
        os._exit(0)


def first_process(pid: int, seccomp: ModuleType) -> None:
    drop_privileges()
    close_all_but(set())
    seccomp.install()
    os._exit(watch_over(pid))


def become_box(config: dict[str, Any], status: socket.socket, channel: int, modules: dict[str, ModuleType]) -> None:
    status.send(b"ready")
    if status.recv(8) != b"go":  # the grader has put this process into its control group
        return
    if config["isolate"]:
        own_namespaces()
    pid = os.fork()
    if pid:
        witness(pid, status)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if config["isolate"]:
        own_mounts(config["scratch_mb"])
        LIBC.sethostname(b"box", 3)
        pid = os.fork()
        if pid:
            first_process(pid, modules["seccomp"])
    run_agent(config, status, channel, modules)


def run_agent(config: dict[str, Any], status: socket.socket, channel: int, modules: dict[str, ModuleType]) -> None:
    os.setsid()
    os.chdir(config["cwd"])
    os.dup2(channel, CHANNEL)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    close_all_but({0, 1, 2, CHANNEL, status.fileno()})
    os.set_inheritable(CHANNEL, False)
    set_limits(config)
    if config["isolate"]:
        drop_privileges()
        modules["seccomp"].install()
    reseed()
    gc.enable()
    agent = modules["agent"].Agent(socket.socket(fileno=CHANNEL), config["output_bytes"])
    status.close()  # set up: from here on only the witness speaks of this process
    agent.serve()


def reseed() -> None:
    import random

    import numpy
    import torch

    seed = int.from_bytes(os.urandom(8), "big")
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    torch.manual_seed(seed % 2**63)


def load_siblings() -> dict[str, ModuleType]:
    """This folder as a package named `inside`: the box's path does not lead to the project that it belongs to."""
    folder = os.path.dirname(os.path.abspath(__file__))
    start = f"{folder}/__init__.py"
    spec = importlib.util.spec_from_file_location("inside", start, submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["inside"] = package
    spec.loader.exec_module(package)
    return {name: importlib.import_module(f"inside.{name}") for name in ("agent", "seccomp")}


def warm_up(path: list[str]) -> dict[str, ModuleType]:
    sys.path.extend(path)
    sys.dont_write_bytecode = True
    modules = load_siblings()
    import torch

    torch.set_num_threads(1)  # a fork after a multi-threaded region hangs
    for name in ("torch.optim", "torch.nn.functional", "matplotlib_inline.config", "IPython.core.magics"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"box: {name} is not here: {error}", file=sys.stderr)
    gc.collect()
    gc.freeze()
    return modules


def spawn(control: socket.socket, message: bytes, fds: list[int], modules: dict[str, ModuleType]) -> None:
    if os.fork():
        for fd in fds:
            os.close(fd)
        return
    status = socket.socket(fileno=fds[0])
    try:
        control.close()
        become_box(json.loads(message), status, fds[1], modules)
    except BaseException as error:  # the grader reports it; nothing may return into the zygote's loop
        try:
            status.send(f"error {type(error).__name__}: {error}".encode()[:2000])
        finally:
            os._exit(1)
    os._exit(0)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    modules = warm_up(json.loads(sys.argv[2]))
    control.send(b"warm")
    while True:
        message, ancillary, _, _ = control.recvmsg(1 << 16, socket.CMSG_SPACE(8))
        if not message:
            return
        fds = array.array("i")
        for _, kind, data in ancillary:
            if kind == socket.SCM_RIGHTS:
                fds.frombytes(data)
        spawn(control, message, list(fds), modules)
        reap()


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return


if __name__ == "__main__":
    main()
