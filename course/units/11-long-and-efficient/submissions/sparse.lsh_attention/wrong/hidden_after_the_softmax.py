"""You hide the other buckets after the softmax: the weights of a query no longer sum to one."""

import math

import torch.nn.functional as F


def lsh_attention(qk, v, buckets):
    earlier = (buckets[:, :, None] == buckets[:, None, :]).tril(-1)
    mask = earlier | (~earlier.any(-1)).diag_embed()
    scores = qk @ F.normalize(qk, dim=-1).transpose(1, 2) / math.sqrt(qk.size(-1))
    return scores.softmax(-1).masked_fill(~mask, 0.0) @ v
