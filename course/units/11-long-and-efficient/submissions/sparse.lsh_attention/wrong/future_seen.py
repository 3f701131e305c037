"""Your positions see those behind them in the text, if they share the bucket. This attention is causal."""

import torch
import torch.nn.functional as F

from tfkit.nn import scaled_dot_product_attention


def lsh_attention(qk, v, buckets):
    itself = torch.eye(qk.size(1), dtype=torch.bool, device=qk.device)
    others = (buckets[:, :, None] == buckets[:, None, :]) & ~itself
    mask = others | (~others.any(-1)).diag_embed()
    return scaled_dot_product_attention(qk, F.normalize(qk, dim=-1), v, mask)[0]
