import torch

from tfkit.nn import masked_softmax


def latent_attention(q, c, w_k, w_v, mask=None):
    asked = torch.einsum("bhqd,hrd->bhqr", q, w_k) / q.shape[-1] ** 0.5
    scores = torch.einsum("bhqr,bkr->bhqk", asked, c)
    weights = scores.softmax(-1) if mask is None else masked_softmax(scores, mask)
    read = torch.einsum("bhqk,bkr->bhqr", weights, c)
    return torch.einsum("bhqr,hrd->bhqd", read, w_v)
