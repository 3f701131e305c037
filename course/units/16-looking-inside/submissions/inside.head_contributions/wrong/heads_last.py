"""You return [B,Q,H,E]; the heads stand in front of the queries: [B,H,Q,E]."""

import torch


def head_contributions(weights, v, w_o):
    columns = w_o.unflatten(1, (v.size(1), -1))
    return torch.einsum("bhqd,ehd->bqhe", weights @ v, columns)
