"""A Windows job object: bounds the memory and the number of a process and its children, and ends them all with it."""

from __future__ import annotations

import ctypes
from typing import Any

from autograder.api import Limits

EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
ACTIVE_PROCESS, JOB_MEMORY, KILL_ON_CLOSE = 0x8, 0x200, 0x2000
SET_QUOTA, TERMINATE = 0x0100, 0x0001  # rights to the process
BASE_MB = 2048  # memory that Python and torch commit before any student code runs


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = [
        ("process_time", ctypes.c_int64), ("job_time", ctypes.c_int64), ("flags", ctypes.c_uint32),
        ("least_working_set", ctypes.c_size_t), ("most_working_set", ctypes.c_size_t), ("processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t), ("priority", ctypes.c_uint32), ("scheduling", ctypes.c_uint32),
    ]  # fmt: skip


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION; `counters` is IO_COUNTERS."""

    _fields_ = [
        ("basic", BasicLimits), ("counters", ctypes.c_uint64 * 6), ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t), ("peak_process", ctypes.c_size_t), ("peak_job", ctypes.c_size_t),
    ]  # fmt: skip


class Job:
    """The job object of one process, given its id. Tests pass their own `kernel32`.

    Raises OSError if Windows refuses it.
    """

    def __init__(self, pid: int, limits: Limits, kernel32: Any = None) -> None:
        self.kernel32 = kernel32 or ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
        for name in ("CreateJobObjectW", "OpenProcess"):
            getattr(self.kernel32, name).restype = ctypes.c_void_p
        self.handle = self._made(self.kernel32.CreateJobObjectW(None, None), "CreateJobObject")
        wanted = ExtendedLimits()
        wanted.basic.flags = ACTIVE_PROCESS | JOB_MEMORY | KILL_ON_CLOSE
        wanted.basic.processes = limits.processes
        wanted.job_memory = (BASE_MB + limits.memory_mb) << 20
        size = ctypes.sizeof(wanted)
        job = ctypes.c_void_p(self.handle)
        self._made(self.kernel32.SetInformationJobObject(job, EXTENDED_LIMITS, ctypes.byref(wanted), size), "limits")
        opened = self.kernel32.OpenProcess(SET_QUOTA | TERMINATE, False, pid)
        process = ctypes.c_void_p(self._made(opened, "OpenProcess"))
        try:
            self._made(self.kernel32.AssignProcessToJobObject(job, process), "AssignProcessToJobObject")
        finally:
            self.kernel32.CloseHandle(process)

    def close(self) -> None:
        """Ends every process of the job."""
        self.kernel32.CloseHandle(ctypes.c_void_p(self.handle))

    def _made(self, value: Any, what: str) -> Any:
        if not value:
            raise OSError(f"job object: {what} failed")
        return value
