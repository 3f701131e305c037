"""You divide by the length of the query. Each score is divided by the length of the key, |k_j|."""

import torch.nn.functional as F

from tfkit.nn import scaled_dot_product_attention


def lsh_attention(qk, v, buckets):
    earlier = (buckets[:, :, None] == buckets[:, None, :]).tril(-1)
    mask = earlier | (~earlier.any(-1)).diag_embed()
    return scaled_dot_product_attention(F.normalize(qk, dim=-1), qk, v, mask)[0]
