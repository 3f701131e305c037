"""Set-up of a worker on the grader's own machine (a Dask preload script, named in `pool.local`)."""

from __future__ import annotations

import os
import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Ignore Ctrl-C, since the grader ends its workers itself, and use the GPU with the worker's own number."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if worker.state.total_resources.get("GPU"):
        shown = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")  # Dask counts GPUs, but does not assign them
        os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # the order that the box uses; it gets no other GPU
        os.environ["CUDA_VISIBLE_DEVICES"] = shown[int(worker.name)] if shown != [""] else str(worker.name)
