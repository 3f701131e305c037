"""Imports torch and IPython once, then forks one child per box. It runs no student's code and holds no secret.

Started as `python -I -S zygote.py CONTROL_FD PATH_JSON [READABLE_JSON]`. Each request on the control socket carries two
descriptors, the child's status socket and its frame channel. With `isolate` "namespaces", a child makes its own user,
mount, process, network and IPC namespaces, its own empty /tmp, and a system call filter before it reads a frame, so
that nothing passes from one child to the next. A child is three processes: a witness outside (reports the exit status),
the first process of the namespace (when it ends, so do all daemons), and the agent. With "landlock" the kernel's
Landlock rules replace namespaces, and all processes of a box stay in the process group of its witness.
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
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
NAMESPACES = 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
READ_ONLY, NOSUID, NODEV, NOEXEC, RECURSIVE, PRIVATE = 1, 2, 4, 8, 1 << 14, 1 << 18
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 4, 24, 38, 47
PR_SET_CHILD_SUBREAPER = 36
HOST_PROC = "/hostproc"  # only if the grader is root, see bubblewrap.py; covered before student code runs
# modules that torch and IPython import at first use; imported once here instead of in every box
PRELOADED = ("torch.optim", "torch.nn.functional", "IPython.core.magics")
# what few boxes use, matplotlib, sympy and what torch imports at the first call of a checkpoint or an optimizer, takes
# 0.4 to 0.9 s each: it waits for a pause, for the end of the first boxes, or until a box is asked for what it holds
LATER = ("matplotlib_inline.config", "matplotlib.pyplot", "torch.fx.experimental.symbolic_shapes", "torch._dynamo")
IMPORT_ALL = b"import all"
IDLE_MS, SOON = 1000, 4
CHANNEL = 200  # the frame channel's descriptor, far from those that student code opens and closes


def check_result(result: int, what: str) -> None:
    """Raises OSError with `what` where a C function's result is not 0."""
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(kind: str | None, target: str, flags: int, data: str | None = None) -> None:
    """mount(2) for a file system without a device; with `kind` None it changes an existing mount.

    Raises OSError if the kernel refuses it.
    """
    name = kind and kind.encode()
    check_result(
        LIBC.mount(name, target.encode(), name, ctypes.c_ulong(flags), data and data.encode()), f"mount {target}"
    )


def write(path: str, text: str) -> None:
    """Writes a whole file. Raises OSError if that is refused."""
    with open(path, "w") as file:
        file.write(text)


def own_namespaces() -> None:
    """Enters new namespaces of every kind, in which only this user is mapped.

    Raises OSError if the kernel refuses it.
    """
    uid, gid = os.getuid(), os.getgid()
    check_result(LIBC.unshare(NAMESPACES), "unshare")
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{uid} {uid} 1")
    write("/proc/self/gid_map", f"{gid} {gid} 1")


def own_mounts(scratch_mb: int) -> None:
    """Mounts empty writable folders, and a /proc that shows only the processes of this box.

    Without `subset=pid` a box that root started could write the kernel's settings, since the user id 0 suffices for it.
    """
    mount(None, "/", PRIVATE | RECURSIVE)
    for path in ("/tmp", "/box", "/dev/shm"):
        mount("tmpfs", path, NOSUID | NODEV, f"size={scratch_mb}m,mode=1777")
    mount("proc", "/proc", NOSUID | NODEV | NOEXEC, "subset=pid")
    if os.path.isdir(HOST_PROC):
        mount("tmpfs", HOST_PROC, NOSUID | NODEV | READ_ONLY, "size=4096,mode=0")


def drop_privileges() -> None:
    """Permanently drops every capability, and any that a new program could gain.

    Raises OSError if the kernel refuses it.
    """
    for capability in range(64):
        if LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
            break
    LIBC.prctl(PR_CAP_AMBIENT, 4, 0, 0, 0)
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    check_result(LIBC.capset(header, data), "capset")
    check_result(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    LIBC.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # lets the witness read how much memory this process uses


def close_all_but(keep: set[int]) -> None:
    """Closes every descriptor below 65536 but these."""
    low = 0
    for fd in sorted(keep) + [1 << 16]:
        if low < fd:  # closerange(0, 0) closes everything
            os.closerange(low, fd)
        low = fd + 1


def data_bytes() -> int:
    """The current size of what RLIMIT_DATA limits in this process, in bytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmData:"))


def threads_of_user() -> int:
    """How many threads this user runs on the whole machine, because RLIMIT_NPROC counts them all."""
    count = 0
    for entry in os.scandir("/proc"):
        try:
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{entry.name}/task"))
        except OSError:
            continue  # it ended meanwhile
    return count


def set_limits(config: dict[str, Any]) -> None:
    """Sets the resource limits. Memory that the zygote already uses does not count against the student's limit."""
    memory = data_bytes() + (config["memory_mb"] << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (config["scratch_mb"] << 20,) * 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    if config["isolate"]:  # without a namespace the limit counts the user's other processes too
        others = threads_of_user() if config["isolate"] == "landlock" else 0
        resource.setrlimit(resource.RLIMIT_NPROC, (config["processes"] + others,) * 2)
    cpu = int(config["wall_s"]) + 5
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))


def supervise_until_closed(pid: int, status: socket.socket) -> int:
    """As `supervise`, but ends the box once the grader, who holds the other end of `status`, has gone."""
    ended, poller = os.pidfd_open(pid), select.poll()
    poller.register(ended, select.POLLIN)
    poller.register(status, 0)  # only that it is closed
    poller.poll()
    if is_closed(status):
        os.kill(pid, signal.SIGKILL)
    os.close(ended)
    return supervise(pid)


def is_closed(status: socket.socket) -> bool:
    """Whether the grader has closed its end."""
    poller = select.poll()
    poller.register(status, 0)
    return bool(poller.poll(0))


def supervise(pid: int) -> int:
    """Reaps every process until `pid` ends; returns its exit code, or 128 + signal where a signal ended it."""
    while True:
        done, status = os.wait()
        if done == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def watch_memory(pid: int, megabytes: int, proc: int, status: socket.socket, memory: ModuleType) -> int | None:
    """As `supervise_until_closed`, but also ends the box, and returns None, once its processes together exceed their
    memory."""
    most, looks = memory.memory_bytes(proc, [os.getpid()]) + (megabytes << 20), 0
    while True:
        done, wait_status = os.waitpid(-1, os.WNOHANG)
        if done == pid:
            code = os.waitstatus_to_exitcode(wait_status)
            return code if code >= 0 else 128 - code
        if not done:
            held, looks = memory.memory_bytes(proc, [pid, *memory.descendants(proc, pid)]), looks + 1
            if held > most or is_closed(status):
                os.kill(pid, signal.SIGKILL)
                return None
            if not held and looks > 30:
                raise OSError("neither control groups nor /proc tell how much memory a box holds")
            time.sleep(0.1)


def witness(pid: int, status: socket.socket, proc: int, config: dict[str, Any], memory: ModuleType) -> None:
    """Waits for the box to end, reports on `status` how it ended, and exits; it does not return."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # without a namespace orphans would come to the host's first process, and their memory and time to nobody
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    close_all_but({status.fileno(), proc})
    watched = config["watched_mb"]
    code = watch_memory(pid, watched, proc, status, memory) if watched else supervise_until_closed(pid, status)
    try:
        status.send(b"memory" if code is None else b"exit %d" % code)
    except BrokenPipeError:
        code = None  # nobody is left to be told
    finally:
        if config["isolate"] == "landlock":
            os.killpg(0, signal.SIGKILL)  # what is left of the box, and this process
        os._exit(0)


def first_process(pid: int, seccomp: ModuleType) -> None:
    """Runs process 1 of the box's namespace: it adopts orphans, and exits with the status of `pid` when that ends."""
    drop_privileges()
    close_all_but(set())
    seccomp.install()
    os._exit(supervise(pid))


def become_box(config: dict[str, Any], status: socket.socket, channel: int, modules: dict[str, ModuleType]) -> None:
    """Turns this fork into a box: the witness outside, the agent inside. Raises OSError if isolation fails."""
    status.send(b"ready")
    if status.recv(8) != b"go":  # the grader has put this process into its control group
        return
    apart = config["isolate"] == "namespaces"
    if apart:
        own_namespaces()
    os.setsid()
    proc = os.open("/proc", os.O_RDONLY)
    pid = os.fork()
    if pid:
        witness(pid, status, proc, config, modules["memory"])
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if apart:
        own_mounts(config["scratch_mb"])
        LIBC.sethostname(b"box", 3)
        pid = os.fork()
        if pid:
            first_process(pid, modules["seccomp"])
        os.setsid()
    run_agent(config, status, channel, modules)


def run_agent(config: dict[str, Any], status: socket.socket, channel: int, modules: dict[str, ModuleType]) -> None:
    """The last of a box's processes: closes what it inherited, sets limits and filter, then answers the grader."""
    os.chdir(config["cwd"])
    os.dup2(channel, CHANNEL)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    close_all_but({0, 1, 2, CHANNEL, status.fileno()})
    os.set_inheritable(CHANNEL, False)
    set_limits(config)
    if config["isolate"] == "landlock":
        enter_folder(config["cwd"])
        os.open("/proc/self", os.O_PATH)  # kept open: a rule on /proc lasts as long as its entry is in use
        modules["landlock"].restrict(json.loads(sys.argv[3]), [config["cwd"], "/proc/self"])
    if config["isolate"]:
        drop_privileges()
        modules["seccomp"].install(config["isolate"], bool(config["watched_mb"]))
    if config["watched_mb"]:
        signal.signal = keeping_children(signal.signal)
    reseed()
    gc.enable()
    agent = modules["agent"].Agent(socket.socket(fileno=CHANNEL), config["output_bytes"])
    status.close()  # the box is set up: from here on only the witness reports its status
    agent.serve()


def keeping_children(real: Callable[..., Any]) -> Callable[..., Any]:
    """`signal.signal` for a box whose filter lets nobody change what a child's end does: for that it does nothing.

    torch's DataLoader sets a handler there, which only tells of a worker's end, and would fail without this.
    """

    def signal_or_nothing(number: int, handler: Any) -> Any:
        return signal.getsignal(number) if number == signal.SIGCHLD else real(number, handler)

    return signal_or_nothing


def enter_folder(folder: str) -> None:
    """Makes one folder the home, temporary and configuration folder."""
    os.environ.update(HOME=folder, TMPDIR=folder, IPYTHONDIR=f"{folder}/.ipython", MPLCONFIGDIR=f"{folder}/.matplotlib")
    tempfile.tempdir = None


def reseed() -> None:
    """Takes new seeds from the kernel, because every fork would draw the same random numbers otherwise."""
    import random

    import numpy
    import torch

    seed = int.from_bytes(os.urandom(8), "big")
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    torch.manual_seed(seed % 2**63)


def load_siblings() -> dict[str, ModuleType]:
    """Loads this folder as a package named `inside`, because the project is not on the box's path."""
    folder = os.path.dirname(os.path.abspath(__file__))
    start = f"{folder}/__init__.py"
    spec = importlib.util.spec_from_file_location("inside", start, submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["inside"] = package
    spec.loader.exec_module(package)
    names = ("agent", "shell", "seccomp", "landlock", "memory")
    return {name: importlib.import_module(f"inside.{name}") for name in names}


def warm_up(path: list[str]) -> dict[str, ModuleType]:
    """Puts `path` on sys.path, imports torch and IPython, and returns this folder's modules by name."""
    sys.path.extend(path)
    sys.dont_write_bytecode = True
    modules = load_siblings()
    import torch

    torch.set_num_threads(1)  # a fork after a multi-threaded region would hang
    torch.zeros(1, dtype=torch.float16).float()  # reads /proc/cpuinfo the first time, which a box does not see
    for name in PRELOADED:
        import_optional(name)
    return modules


def import_optional(name: str) -> None:
    """Imports a module that boxes can do without."""
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(f"box: {name} is not installed: {error}", file=sys.stderr)


def import_later(control: socket.socket, boxes: int, left: list[str]) -> None:
    """Imports what is left of LATER, one after the other while nobody asks for a box, or all of it after some `boxes`.

    Where a class is graded there is no pause, and each box whose student draws something would load matplotlib.
    """
    poller = select.poll()
    poller.register(control, select.POLLIN)
    while left and (boxes >= SOON or not poller.poll(IDLE_MS)):
        import_optional(left.pop(0))
        gc.freeze()


def import_all(status: int, left: list[str]) -> None:
    """Imports all that is left of LATER, and says so on this descriptor: no box is charged for it from now on."""
    with socket.socket(fileno=status) as asking:
        while left:
            import_optional(left.pop(0))
        gc.freeze()
        try:
            asking.send(b"imported")
        except OSError:
            return  # who asked has ended


def spawn(control: socket.socket, message: bytes, fds: list[int], modules: dict[str, ModuleType]) -> None:
    """Forks a child that becomes the box for one request; the parent returns at once, the child never does."""
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
    """Reports `warm`, then forks a box for each request until the control socket is closed."""
    gc.disable()  # collecting while torch is imported takes a quarter of a second and finds nothing
    control = socket.socket(fileno=int(sys.argv[1]))
    modules = warm_up(json.loads(sys.argv[2]))
    try:
        modules["shell"].warm_up(modules["agent"].InjectedModules())
    except OSError as error:
        print(f"box: no shell was made ahead: {error}", file=sys.stderr)
    gc.freeze()
    control.send(b"warm")
    left = list(LATER)
    boxes = 0
    while True:
        import_later(control, boxes, left)
        message, ancillary, _, _ = control.recvmsg(1 << 16, socket.CMSG_SPACE(8))
        if not message:
            return
        fds = array.array("i")
        for _, kind, data in ancillary:
            if kind == socket.SCM_RIGHTS:
                fds.frombytes(data)
        if message == IMPORT_ALL:
            import_all(fds[0], left)
            continue
        boxes = min(boxes + 1, SOON)  # a box can read this frame: it shall not find how many there were before it
        spawn(control, message, list(fds), modules)
        reap()


def reap() -> None:
    """Collects the exit status of children that have ended, without waiting."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return


if __name__ == "__main__":
    main()
