"""Which number format is fast on this machine."""

from __future__ import annotations

import torch


def quick_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 matrices in hardware; emulation is slower than float32.

    On x86 this takes the bfloat16 instructions of AVX-512 (AMX includes them). Other processors, untested, give False.
    """
    supported = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(supported and supported())
