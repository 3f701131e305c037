"""You shorten the queries to length one as well. Then every score is a cosine, and no query can be sure of anything."""

import torch.nn.functional as F

from tfkit.nn import scaled_dot_product_attention


def lsh_attention(qk, v, buckets):
    earlier = (buckets[:, :, None] == buckets[:, None, :]).tril(-1)
    mask = earlier | (~earlier.any(-1)).diag_embed()
    unit = F.normalize(qk, dim=-1)
    return scaled_dot_product_attention(unit, unit, v, mask)[0]
