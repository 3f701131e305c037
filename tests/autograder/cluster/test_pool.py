"""What the pool makes of workers that end badly."""

import os
import pickle
from queue import SimpleQueue
from types import SimpleNamespace

import dask
import msgpack
import psutil
import pytest
import requests
import torch
from distributed.protocol import loads

from autograder.cluster import grading_process, local, pool
from autograder.cluster.bundle import Key


class Slow:
    """A cluster whose workers do not end in time."""

    def __init__(self, **options):
        self.closed = False

    def close(self, timeout):
        self.closed = True
        raise TimeoutError(f"timed out after {timeout} s.")


class Client:
    """A client that nothing is asked of."""

    def __init__(self, cluster, **options):
        self.cluster = cluster

    def close(self):
        pass


def test_workers_that_are_slow_to_end_are_no_error(monkeypatch):
    monkeypatch.setattr(pool, "LocalCluster", Slow)
    monkeypatch.setattr(pool, "Client", Client)
    with pool.local(1, "cpu", print, check_interrupt=list) as workers:
        cluster = workers.client.cluster
    assert cluster.closed


def test_workers_by_default_are_bounded_by_cores_and_memory(monkeypatch):
    monkeypatch.setattr(pool, "CPU_COUNT", 64)
    memory = type("Memory", (), {"available": 10 * pool.WORKER_BYTES + 1})
    monkeypatch.setattr(pool.psutil, "virtual_memory", lambda: memory)
    assert pool.workers_here("cpu", None) == (10, "cpu")
    memory.available = 1
    assert pool.workers_here("cpu", None) == (1, "cpu")


@pytest.mark.parametrize(
    ("cards", "asked", "found"),
    [
        (0, ("auto", 8), (8, "auto")),
        (2, ("auto", 8), (2, "cuda")),
        (2, ("cuda", None), (2, "cuda")),
        (2, ("cuda", 1), (1, "cuda")),
        (2, ("cpu", 8), (8, "cpu")),
        (0, ("cuda", 8), (1, "cuda")),  # which then says for each submission that there is no card
    ],
)
def test_a_card_has_one_worker(monkeypatch, cards, asked, found):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cards > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cards)
    assert pool.workers_here(*asked) == found


@pytest.mark.parametrize(("shown", "card"), [(None, "1"), ("4,7", "7"), ("MIG-a,MIG-b", "MIG-b")])
def test_a_worker_takes_the_card_of_its_number(monkeypatch, shown, card):
    monkeypatch.setattr(local.signal, "signal", lambda *_: None)
    monkeypatch.setattr(local.os, "environ", {} if shown is None else {"CUDA_VISIBLE_DEVICES": shown})
    resources = SimpleNamespace(total_resources={"GPU": 1})
    local.dask_setup(SimpleNamespace(name=1, state=resources))
    assert local.os.environ == {"CUDA_VISIBLE_DEVICES": card, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def test_workers_here_keep_no_profile_and_show_no_pages():
    """Kept for a submission: 1.3 MiB by the profiler, 20 KiB by the log; the pages named students to every user."""
    with pool.local(1, "cpu", print, lambda: None) as here:
        here._wait_for_workers()
        assert here.client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_log.maxlen) <= 50
        names = ("distributed.worker.profile.enabled", "distributed.worker.http.routes")
        settings = here.client.run(lambda: [dask.config.get(name) for name in names])
        assert list(settings.values()) == [[False, []]]
        most = here.client.submit(grading_process._most_bytes, pure=False).result()
        assert 0 < most < psutil.virtual_memory().total  # of the process beside the worker, as of the worker itself
        ticks = lambda server: server.periodic_callbacks["tick"].callback_time
        assert here.client.run_on_scheduler(lambda dask_scheduler: ticks(dask_scheduler)) == 1000  # it was 20
        assert list(here.client.run(lambda dask_worker: ticks(dask_worker)).values()) == [1000]
        port = here.client.scheduler_info()["services"]["dashboard"]
        assert requests.get(f"http://127.0.0.1:{port}/info/main/workers.html", timeout=10).status_code == 404


class MakesFolder:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_dask_runs_a_pickle_in_a_message_whatever_its_settings(tmp_path):
    """So SECURITY.md calls workers trusted. If this fails one day, it can promise more."""
    frames = [msgpack.dumps({"pickled-obj": pickle.dumps(MakesFolder(tmp_path / "made")), "num-sub-frames": 0})]
    message = msgpack.dumps({"result": {"__Pickled__": 1}})
    loads([message, *frames], deserialize=False, deserializers=["msgpack"])
    assert (tmp_path / "made").is_dir()


class SecondFuture:
    """A task that was sent, to these workers alone if any are named."""

    def __init__(self, key, workers=()):
        self.key, self.workers, self.cancelled = key, workers, False

    def add_done_callback(self, call):
        self.call = call

    def cancel(self):
        self.cancelled = True


class ThreeWorkers:
    """A client that notes what is sent where."""

    def __init__(self, *there):
        self.there, self.sent = list(there), []

    def scheduler_info(self, n_workers):
        return {"workers": {address: {"nthreads": 1, "resources": {}} for address in self.there}}

    def submit(self, call, data, *, key, pure, resources, workers=()):
        self.sent.append(SecondFuture(key, workers))
        return self.sent[-1]


def test_what_one_worker_graded_is_kept_for_the_others_as_long_as_there_are_some():
    client = ThreeWorkers("a", "b", "c")
    here = pool.Pool(lambda: client, "cpu", print, list)
    key, running, finished = Key("ada", "02-masks", "0", "0"), {}, SimpleQueue()
    here._send(pool.GradingTask(key, bytes), running, finished)
    here._send(pool.GradingTask(key, bytes, not_by="b"), running, finished)
    assert [one.workers for one in client.sent] == [(), ["a", "c"]]
    client.there = ["b", "c", "new"]
    here._free_stranded(running, finished)
    assert len(client.sent) == 2  # c can still take it
    client.there = ["b", "new"]
    here._free_stranded(running, finished)
    assert (
        client.sent[1].cancelled and client.sent[2].workers == () and set(running) == {client.sent[0], client.sent[2]}
    )
    client.there = ["b"]
    here._send(pool.GradingTask(key, bytes, not_by="b"), running, finished)
    assert client.sent[3].workers == ()  # there is no other


def test_a_submission_that_cannot_be_read_again_is_not_lost_in_silence():
    client = ThreeWorkers("a", "b")
    here, running, finished = pool.Pool(lambda: client, "cpu", print, list), {}, SimpleQueue()

    def bundle():
        if client.sent:
            raise PermissionError("its notebook")
        return b""

    here._send(pool.GradingTask(Key("ada", "02-masks", "0", "0"), bundle, not_by="b"), running, finished)
    client.there = ["b"]
    with pytest.raises(PermissionError, match="its notebook"):
        here._free_stranded(running, finished)
