"""A hand-written seccomp filter that refuses what namespaces do not confine. For x86_64 and aarch64."""

from __future__ import annotations

import ctypes
import os
import platform
import struct

LOAD, EQUAL, ANY_BIT, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
NUMBER, ARCH, ARGUMENT_0, ARGUMENT_1, ARGUMENT_2 = 0, 4, 16, 24, 32  # offsets in struct seccomp_data
NEW_NAMESPACES = 0x7E020000
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
TIOCSTI, TIOCLINUX = 0x5412, 0x541C

# name: (x86_64, aarch64); None if the architecture has no such call
REFUSED: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268), "unshare": (272, 97), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "iopl": (172, None), "ioperm": (173, None),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58), "personality": (135, 92),
    "modify_ldt": (154, None), "uselib": (134, None), "vmsplice": (278, 75), "memfd_secret": (447, 447),
    "fanotify_init": (300, 262), "mknod": (133, None), "mknodat": (259, 33), "lsm_set_self_attr": (460, 460),
}  # fmt: skip
# refused without namespaces: calls that change files' owners, modes and times or other processes, or outlive the box
WITHOUT_NAMESPACES: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "setxattrat": (463, 463), "removexattrat": (466, 466), "setsid": (112, 157), "setpgid": (109, 154),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "setpriority": (141, 140),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "ioprio_set": (251, 30), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "process_madvise": (440, 440), "socket": (41, 198),
}  # fmt: skip
# refused without control groups: memory that belongs to no process and so could not be counted
UNCOUNTED: dict[str, tuple[int | None, int | None]] = {"memfd_create": (319, 279), "shmget": (29, 194)}
PRLIMIT, SIGACTION = (302, 261), (13, 134)
SIGCHLD = 17
SPECIAL = {"clone": (56, 220), "clone3": (435, 435), "socket": (41, 198), "socketpair": (53, 199), "ioctl": (16, 29)}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def _step(code: int, operand: int, true: int = 0, false: int = 0) -> Instruction:
    return code, true, false, operand


def _refuse(number: int, errno: int) -> list[Instruction]:
    return [_step(EQUAL, number, 0, 1), _step(RETURN, ERRNO | errno)]


def _sockets(number: int) -> list[Instruction]:
    """AF_UNIX and the internet (the network namespace confines it); netlink's protocol 0, without which libzmq aborts.

    No AF_VSOCK: no namespace confines it.
    """
    return [
        _step(EQUAL, number, 0, 9), _step(LOAD, ARGUMENT_0), _step(EQUAL, AF_UNIX, 5, 0), _step(EQUAL, AF_INET, 4, 0),
        _step(EQUAL, AF_INET6, 3, 0), _step(EQUAL, AF_NETLINK, 0, 3), _step(LOAD, ARGUMENT_2), _step(EQUAL, 0, 0, 1),
        _step(RETURN, ALLOW), _step(RETURN, ERRNO | EAFNOSUPPORT),
    ]  # fmt: skip


def program(machine: str, isolate: str = "namespaces", uncounted: bool = False) -> list[Instruction]:
    """The filter for one architecture. Raises KeyError for one that has no table.

    `isolate` "landlock" also refuses what only namespaces would confine, `uncounted` memory and time that only a
    control group would count: the time of children whose end a process ignores is nobody's.
    """
    column = list(AUDIT_ARCH).index(machine) if machine in AUDIT_ARCH else -1
    steps = [_step(LOAD, ARCH), _step(EQUAL, AUDIT_ARCH[machine], 1, 0), _step(RETURN, KILL), _step(LOAD, NUMBER)]
    if machine == "x86_64":  # the x32 table has other numbers for the same calls
        steps += [_step(AT_LEAST, 0x40000000, 0, 1), _step(RETURN, ERRNO | ENOSYS)]
    alone = isolate == "landlock"
    tables = [REFUSED, WITHOUT_NAMESPACES if alone else {}, UNCOUNTED if uncounted else {}]
    refused = {numbers[column] for table in tables for numbers in table.values()}
    for number in sorted(number for number in refused if number is not None):
        steps += _refuse(number, EPERM)
    if alone:  # a process may lower its own limits, but change no other's
        steps += [_step(EQUAL, PRLIMIT[column], 0, 4), _step(LOAD, ARGUMENT_0), _step(EQUAL, 0, 1, 0),
                  _step(RETURN, ERRNO | EPERM), _step(RETURN, ALLOW)]  # fmt: skip
    if uncounted:
        steps += [_step(EQUAL, SIGACTION[column], 0, 4), _step(LOAD, ARGUMENT_0), _step(EQUAL, SIGCHLD, 0, 1),
                  _step(RETURN, ERRNO | EPERM), _step(RETURN, ALLOW)]  # fmt: skip
    steps += _refuse(SPECIAL["clone3"][column], ENOSYS)  # glibc then falls back to clone, whose flags can be read
    steps += [_step(EQUAL, SPECIAL["clone"][column], 0, 4), _step(LOAD, ARGUMENT_0),
              _step(ANY_BIT, NEW_NAMESPACES, 0, 1), _step(RETURN, ERRNO | EPERM), _step(RETURN, ALLOW)]  # fmt: skip
    steps += [_step(EQUAL, SPECIAL["ioctl"][column], 0, 5), _step(LOAD, ARGUMENT_1), _step(EQUAL, TIOCSTI, 1, 0),
              _step(EQUAL, TIOCLINUX, 0, 1), _step(RETURN, ERRNO | EPERM), _step(RETURN, ALLOW)]  # fmt: skip
    steps += _sockets(SPECIAL["socket"][column]) + _sockets(SPECIAL["socketpair"][column])
    return [*steps, _step(RETURN, ALLOW)]


def install(isolate: str = "namespaces", uncounted: bool = False) -> None:
    """Loads the filter into this process permanently. Needs no_new_privs. Raises OSError or KeyError (architecture)."""
    steps = program(platform.machine(), isolate, uncounted)
    raw = b"".join(struct.pack("<HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(raw, len(raw))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    libc = ctypes.CDLL(None, use_errno=True)
    whole = Program(len(steps), ctypes.addressof(buffer))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(whole), 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")
