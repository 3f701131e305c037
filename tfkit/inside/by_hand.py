"""Interpretability by hand: the logit lens, activation patching, the contribution of each head, induction scores, and
direct logit attribution."""

import torch


def logit_lens(states, gain, unembed, eps=1e-6):
    """The model's predictions after each layer: its final RMS norm and output matrix, applied to every layer's states.

    states [N,B,L,E], gain [E], unembed [V,E] -> logits [N,B,L,V]
    """
    scale = (states.square().mean(-1, keepdim=True) + eps).rsqrt()
    return (states * scale * gain) @ unembed.T


def run_patched(module, child, value, *args):
    """`module(*args)`, in which `value` itself is what its submodule `child` returns, at every call of it.

    child: the submodule's whole name, with dots for those inside others; no other submodule is patched
    The module itself runs, with its own weights and hooks, and not a copy of it; only `child` need not run. Nothing is
    left behind, after an error either. -> what the module returns
    """
    handle = module.get_submodule(child).register_forward_hook(lambda *_: value)
    try:
        return module(*args)
    finally:
        handle.remove()


def head_contributions(weights, v, w_o):
    """What each head adds to the output of multi-head attention; the sum over heads is that output, without its bias.

    weights [B,H,Q,K], v [B,H,K,D], w_o [E,H*D], the weight of the output projection -> [B,H,Q,E]
    """
    columns = w_o.unflatten(1, (v.size(1), -1))  # [E,H,D]: head h reads columns h*D … (h+1)*D-1
    return torch.einsum("bhqd,ehd->bhqe", weights @ v, columns)


def induction_scores(weights, period):
    """How far each head looks at what followed the current token one period ago, in a text that repeats itself.

    weights [B,H,L,L], period >= 1 -> [H]: the mean of weights[b,h,i,i-period+1] over the batch and all i with
    period <= i < L; 0 where there is no such i
    """
    length = weights.size(-1)
    if length <= period:
        return weights.new_zeros(weights.size(1))
    ahead = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # [B,H,L-period+1], from query period-1 on
    return ahead[..., 1:].mean((0, 2))


def direct_attribution(parts, unembed, target, rival):
    """How far each part of the residual stream moves the target's logit above the rival's, without passing through
    later parts.

    parts [C,B,L,E], unembed [V,E], target and rival int64 [B,L] -> [C,B,L]
    """
    return (parts * (unembed[target] - unembed[rival])).sum(-1)
