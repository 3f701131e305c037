"""Dask workers that grade bundles, on this machine or behind any scheduler. Lost bundles are sent again."""

from __future__ import annotations

import ipaddress
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any

import dask
import psutil
from dask.system import CPU_COUNT
from distributed import Client, Future, KilledWorker, LocalCluster
from distributed.comm import CommClosedError

from autograder.cluster import grading_process, job
from autograder.cluster.bundle import Key
from autograder.cluster.grading_process import GradingFailed, GradingProcessDied, WrongVersion
from autograder.sandbox import SandboxError

BUNDLES_PER_WORKER = 2  # bundles sent to each worker: one being graded, one waiting
WORKER_BYTES = 3 << 30  # a worker, its grading process with torch, their warm process, a box of 2 GiB (api.Limits)
TRIES = 2  # of a bundle that ends the process that grades it, the second time alone
POLL_S = 0.5  # between two checks for a request to stop
SETTINGS = {  # for the cluster on this machine
    "distributed.scheduler.allowed-failures": 1,  # a bundle that ended two workers is tried alone
    "distributed.scheduler.http.routes": [],  # no web pages, since any user of the machine could read them
    "distributed.worker.http.routes": [],
    "distributed.admin.low-level-log-length": 50,  # its entries hold whole bundles: 20 KiB for a submission
    # by default each process looks at itself 50 times a second: two workers and the grader took 8.8% of a core while
    # they only waited, with these settings 1.6%; a submission that takes 5 s on a loaded machine cost 0.4 s so
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.worker.profile.enabled": False,  # keeps a call tree a second, for an hour: 1.3 MiB for a submission
}
TIMEOUT_S = 120.0  # to wait for a lost scheduler, or for the first worker


class PoolError(RuntimeError):
    """These workers cannot grade. The message is one line: what was wrong, where, and what to do."""


@dataclass(frozen=True)
class GradingTask:
    """A submission to grade; its bundle is made only when it is sent, so that memory does not grow with the class.

    `not_by`: the address of the worker that graded it before, if another one is to do it now.
    """

    key: Key
    bundle: Callable[[], bytes]
    not_by: str = ""


@dataclass(frozen=True)
class JobOutcome:
    """The result of a task: a record, or the reason why there is none. `worker`: where it was graded, as the scheduler
    knows it, "" if it does not; what a record says of that is the worker's own word."""

    key: Key
    record: job.GradingRecord | None = None
    error: str = ""
    killed_workers: bool = False  # its workers, or their grading processes, died while they graded it
    worker: str = ""


CheckInterrupt = Callable[[], object]


class Pool:
    """Workers behind a Dask scheduler; `connect` makes a client of it. `check_interrupt` is called repeatedly while
    waiting; an exception from it ends the grading."""

    def __init__(
        self,
        connect: Callable[[], Client],
        device: str,
        notify: Callable[[str], object],
        check_interrupt: CheckInterrupt,
    ) -> None:
        self._connect, self._notify, self._check_interrupt = connect, notify, check_interrupt
        self._resources = {"GPU": 1} if device == "cuda" else {}
        self._kept_for: dict[str, list[str]] = {}  # a future's key → the addresses of the only workers that may take it
        self.client = connect()

    def close(self) -> None:
        """Disconnect from the scheduler; jobs that were sent are cancelled."""
        self.client.close()

    def slots(self) -> int:
        """How many bundles can be graded at once. Raises PoolError if a GPU is needed and none offered."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        if not self._resources:
            return sum(worker["nthreads"] for worker in workers)
        cards = sum(int(worker["resources"].get("GPU", 0)) for worker in workers)
        if workers and not cards:
            raise PoolError("no worker offers a GPU: start some with `dask worker … --resources GPU=1`")
        return cards

    def grade(self, work: Iterable[GradingTask]) -> Iterator[JobOutcome]:
        """Yields one outcome for each task as it finishes, in any order. Raises PoolError if no scheduler answers."""
        left, running, finished = iter(work), dict[Future, GradingTask](), SimpleQueue[Future]()
        again: list[GradingTask] = []
        suspects: dict[Key, GradingTask | None] = {}  # tasks whose worker died
        self._wait_for_workers()
        try:
            while True:
                room = max(BUNDLES_PER_WORKER * self.slots(), 1) - len(running)
                sent = list(_next(room, again, left))
                for one in sent if sent or running else _first_of(suspects):
                    self._send(one, running, finished)
                if not running:
                    return
                future = self._next_of(finished, running)
                if future not in running:  # from a connection that ended
                    continue
                one = running.pop(future)
                done = self._outcome(future, one)
                if done is None:
                    again += [one, *running.values()]
                    running.clear()
                    self._reconnect()
                elif done.killed_workers and one.key not in suspects:
                    suspects[one.key] = one
                else:
                    yield done
        finally:
            for future in running:
                future.cancel()

    def _next_of(self, finished: SimpleQueue[Future], running: dict[Future, GradingTask]) -> Future:
        while True:
            self._check_interrupt()
            try:
                return finished.get(timeout=POLL_S)
            except Empty:
                self._free_stranded(running, finished)

    def _send(self, work: GradingTask, running: dict[Future, GradingTask], finished: SimpleQueue[Future]) -> None:
        name = f"grade-{work.key.assignment}-{work.key.student}-{uuid.uuid4().hex[:8]}"
        only = self._others(work.not_by) if work.not_by else []
        where = {"workers": only} if only else {}
        future = self.client.submit(
            grading_process.grade, work.bundle(), key=name, pure=False, resources=self._resources, **where
        )
        if only:
            self._kept_for[name] = only
        running[future] = work
        future.add_done_callback(finished.put)

    def _workers(self) -> dict[str, Any]:
        """Address → what the scheduler knows of the workers that can take a task."""
        there = self.client.scheduler_info(n_workers=-1)["workers"]
        return {name: one for name, one in there.items() if not self._resources or one["resources"].get("GPU")}

    def _others(self, worker: str) -> list[str]:
        return [address for address in self._workers() if address != worker]

    def _free_stranded(self, running: dict[Future, GradingTask], finished: SimpleQueue[Future]) -> None:
        """Let any worker take what only those may take that have ended meanwhile: Dask would wait for them for ever."""
        kept = {one: self._kept_for[str(one.key)] for one in running if str(one.key) in self._kept_for}
        if not kept:
            return
        try:
            there = self._workers().keys()
        except OSError:  # the scheduler is gone: all futures are lost, and sent again
            return
        for future in [one for one, only in kept.items() if there and not there & set(only)]:
            work = running.pop(future)
            future.cancel()
            self._send(replace(work, not_by=""), running, finished)

    def _outcome(self, future: Future, work: GradingTask) -> JobOutcome | None:
        """The outcome of a finished future; None if the scheduler lost it."""
        try:
            record = job.GradingRecord.of(work.key, future.result())
            return JobOutcome(work.key, record, worker=self._place_of(future))
        except (CancelledError, CommClosedError):
            return None
        except (WrongVersion, SandboxError) as error:
            raise PoolError(str(error)) from error
        except (KilledWorker, GradingProcessDied) as error:
            tried = error.allowed_failures + 1 if isinstance(error, KilledWorker) else TRIES
            died = f"every worker that tried it died ({tried} of them), perhaps for lack of memory"
            return JobOutcome(work.key, error=died, killed_workers=True)
        except GradingFailed as error:
            return JobOutcome(work.key, error=str(error))
        except Exception as error:  # any failure of a worker: this submission waits, the others go on
            return JobOutcome(work.key, error=f"{type(error).__name__}: {error}")

    def _place_of(self, future: Future) -> str:
        """The address of the worker that holds a result: its own, as it sent it nowhere else."""
        with suppress(OSError):
            return next(iter(self.client.who_has([future]).get(future.key, ())), "")
        return ""

    def _wait_for_workers(self) -> None:
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            self._check_interrupt()
            with suppress(TimeoutError):
                self.client.wait_for_workers(1, timeout=POLL_S)
                return
        where = self.client.scheduler.address if self.client.scheduler else "that address"
        raise PoolError(f"the scheduler at {where} has no worker: start one with `dask worker {where}`")

    def _reconnect(self) -> None:
        self._notify("the scheduler is gone; waiting for it to come back")
        self.client.close()
        end = time.monotonic() + TIMEOUT_S
        while True:
            self._check_interrupt()
            try:
                self.client = self._connect()
                break
            except PoolError:
                if time.monotonic() > end:
                    raise
                time.sleep(1.0)
        self._wait_for_workers()
        self._notify("the scheduler is back; what it had lost is sent again")


def _first_of(suspects: dict[Key, GradingTask | None]) -> list[GradingTask]:
    """The next task to try alone, if any; it is then marked as tried."""
    for key, work in suspects.items():
        if work is not None:
            suspects[key] = None
            return [work]
    return []


def _next(room: int, again: list[GradingTask], left: Iterator[GradingTask]) -> Iterator[GradingTask]:
    for _ in range(room):
        if again:
            yield again.pop()
        elif (one := next(left, None)) is not None:
            yield one
        else:
            return


@contextmanager
def local(
    workers: int, device: str, notify: Callable[[str], object], check_interrupt: CheckInterrupt
) -> Iterator[Pool]:
    """A cluster of processes on this machine. It uses TLS with its own keys, since any user could use a plain port."""
    options: dict[str, Any] = {"resources": {"GPU": 1}} if device == "cuda" else {}
    with dask.config.set(SETTINGS):
        cluster = _cluster(workers, options)
    try:
        pool = Pool(lambda: Client(cluster, set_as_default=False), device, notify, check_interrupt)
        try:
            yield pool
        finally:
            pool.close()
    finally:
        with suppress(TimeoutError):  # on a busy machine; remaining workers end with this process
            cluster.close(timeout=30)


def _cluster(workers: int, options: dict[str, Any]) -> LocalCluster:
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        security=True,
        dashboard_address="127.0.0.1:0",  # the web server can't be turned off; any port, as 8787 may be taken
        worker_dashboard_address=None,
        preload=["autograder.cluster.local"],
        silence_logs=logging.CRITICAL,
        **options,
    )


def is_open(address: str) -> bool:
    """Whether messages to this scheduler cross a network unencrypted: it is on another host and has no TLS."""
    scheme, _, rest = address.rpartition("://")
    host = rest.partition("/")[0].rsplit(":", 1)[0].strip("[]")
    if scheme in ("tls", "wss", "inproc"):
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


@contextmanager
def remote(
    address: str, device: str, notify: Callable[[str], object], check_interrupt: CheckInterrupt
) -> Iterator[Pool]:
    """The workers of any scheduler; for `tls://` the certificates are those of Dask's own configuration."""

    def connect() -> Client:
        """Connects to the scheduler. Raises PoolError if it does not answer within 10 s."""
        try:
            return Client(address, timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            why = str(error).partition("\n")[0]
            raise PoolError(f"no Dask scheduler answers at {address} ({why}): start `dask scheduler`") from error

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # the grader reports errors itself
    pool = Pool(connect, device, notify, check_interrupt)
    try:
        yield pool
    finally:
        pool.close()


def workers_here(device: str, wanted: int | None) -> tuple[int, str]:
    """The number of workers and their device: as many as cores and memory allow, or at most one for each GPU.

    `auto` uses the GPUs if there are some; two jobs must not share one.
    """
    if device != "cpu":
        import torch

        cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if cards or device == "cuda":
            return min(wanted or max(cards, 1), max(cards, 1)), "cuda"
    return wanted or max(1, min(CPU_COUNT, psutil.virtual_memory().available // WORKER_BYTES)), device
