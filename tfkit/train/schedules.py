"""Learning rates over the steps of training."""

from __future__ import annotations


def noam_rate(step: int, d_model: int, warmup: int) -> float:
    """The 2017 transformer's rate at `step` (from 1): linear for `warmup` steps, then falling as 1/sqrt(step).

    d_model^-0.5 * min(step^-0.5, step * warmup^-1.5); Vaswani et al. 2017, section 5.3.
    """
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def linear_rate(step: int, peak: float, warmup: int, total: int) -> float:
    """Linear up to `peak` over `warmup` steps, then linearly down to 0 at `total` (Devlin et al. 2019, A.2)."""
    if step < warmup:
        return peak * step / warmup
    return peak * max(0.0, (total - step) / max(1, total - warmup))
