"""One step of AdamW, as it is written in the paper. Training itself uses torch's own, which gives the same numbers."""

from __future__ import annotations


def adamw_step(param, grad, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    """One parameter tensor after one step, and its two moments (Loshchilov and Hutter 2019, algorithm 2).

    param, grad, m, v: tensors of one shape; m and v are running means of the gradient and of its square, zeros before
    the first step; step int, from 1 -> (param, m, v) of that shape. The decay is multiplied by lr, as torch has it.
    The moments are returned without the correction for having started from zero.
    """
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad * grad
    m_hat = m / (1 - beta1**step)  # after one step m is (1 - beta1) * grad: the mean is grad
    v_hat = v / (1 - beta2**step)
    return param - lr * (m_hat / (v_hat.sqrt() + eps) + weight_decay * param), m, v
