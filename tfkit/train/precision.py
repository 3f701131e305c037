"""Which number format is quick where."""

from __future__ import annotations

import torch


def quick_bfloat16() -> bool:
    """Whether this processor multiplies matrices of bfloat16 itself; elsewhere it is imitated, and slower than float32.

    On x86 that takes AVX-512's bfloat16 instructions (or AMX, which has them too). Others say no: they were not tried.
    """
    asked = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(asked and asked())
