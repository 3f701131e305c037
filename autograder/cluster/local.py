"""What a worker on the grader's own machine does before it takes work (a Dask preload, named in `pool.local`)."""

from __future__ import annotations

import os
import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C to the grader, which ends its workers itself; take the graphics card of one's own number."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if worker.state.total_resources.get("GPU"):
        shown = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")  # Dask only counts cards; it hands none out
        os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # as the box counts; it gets no other card's node
        os.environ["CUDA_VISIBLE_DEVICES"] = shown[int(worker.name)] if shown != [""] else str(worker.name)
