"""Which device nodes of an NVIDIA driver one job needs. A box that has no others cannot use another GPU, whatever a
process in it does to its environment."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import NamedTuple

DEV = Path("/dev")
DRIVER = Path("/proc/driver/nvidia")
SHARED = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")  # not specific to one GPU


class GPUDevice(NamedTuple):
    """`minor`: the number in /dev/nvidia<minor>, not CUDA's. `instance`: GPU and compute instance of a MIG slice."""

    uuid: str
    minor: int
    instance: tuple[int, int] | None = None


def gpus() -> list[GPUDevice]:
    """The GPUs with a device node here, in PCI bus order, as nvidia-smi numbers them (and CUDA, if configured so).
    Where the driver's /proc is not visible, as in some containers, a single GPU is found by its device node."""
    found = []
    for file in sorted(DRIVER.glob("gpus/*/information")):
        fields = dict(re.findall(r"^(GPU UUID|Device Minor):\s*(\S+)", file.read_text(), re.MULTILINE))
        if len(fields) == 2 and (DEV / f"nvidia{fields['Device Minor']}").exists():
            found.append(GPUDevice(fields["GPU UUID"], int(fields["Device Minor"])))
    alone = [node.name.removeprefix("nvidia") for node in DEV.glob("nvidia[0-9]*")]
    return found or ([GPUDevice("0", int(alone[0]))] if len(alone) == 1 else [])


def assigned_gpu(shown: str | None) -> GPUDevice | None:
    """The first GPU that CUDA_VISIBLE_DEVICES names by number, UUID, prefix of a UUID, or MIG-…; the first GPU where it
    is not set. None if there is none, or none of that name."""
    first = "0" if shown is None else shown.split(",")[0].strip()
    if first.startswith("MIG-"):
        return mig_slice(first)
    if first.isdecimal():
        return next(iter(gpus()[int(first) :]), None)
    return next((card for card in gpus() if first and card.uuid.startswith(first)), None)


def mig_slice(uuid: str) -> GPUDevice | None:
    """The MIG slice, from the driver's NVML, which makes no CUDA context. None without NVML or such a slice."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    if nvml.nvmlInit_v2():
        return None
    piece, card = ctypes.c_void_p(), ctypes.c_void_p()
    minor, gpu, compute = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    failed = (  # each is 0 if it worked
        nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(piece))
        or nvml.nvmlDeviceGetGpuInstanceId(piece, ctypes.byref(gpu))
        or nvml.nvmlDeviceGetComputeInstanceId(piece, ctypes.byref(compute))
        or nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(piece, ctypes.byref(card))
        or nvml.nvmlDeviceGetMinorNumber(card, ctypes.byref(minor))
    )
    nvml.nvmlShutdown()
    return None if failed else GPUDevice(uuid, minor.value, (gpu.value, compute.value))


def nodes(card: GPUDevice) -> list[str]:
    """Existing paths below /dev: the GPU's own, the shared ones, and the two that give access to a MIG slice."""
    names = [f"nvidia{card.minor}", *SHARED]
    if card.instance is not None:
        gpu, compute = card.instance
        slices = DRIVER / f"capabilities/gpu{card.minor}/mig/gi{gpu}"
        for access in (slices / "access", slices / f"ci{compute}" / "access"):
            match = re.search(r"^DeviceFileMinor:\s*(\d+)", access.read_text() if access.exists() else "", re.MULTILINE)
            names += [f"nvidia-caps/nvidia-cap{match[1]}"] if match else []
    return [name for name in names if (DEV / name).exists()]


def binds(shown: str | None) -> list[str]:
    """bwrap's arguments for the one GPU of CUDA_VISIBLE_DEVICES, which becomes number 0, being alone in the box."""
    card = assigned_gpu(shown)
    if card is None:
        return []
    words = [word for name in nodes(card) for word in ("--dev-bind", str(DEV / name), f"/dev/{name}")]
    return [*words, "--ro-bind", "/sys", "/sys", "--setenv", "CUDA_VISIBLE_DEVICES", card.uuid]
