import torch.nn.functional as F

from tfkit.nn import scaled_dot_product_attention


def lsh_attention(qk, v, buckets):
    earlier = (buckets[:, :, None] == buckets[:, None, :]).tril(-1)
    mask = earlier | (~earlier.any(-1)).diag_embed()
    return scaled_dot_product_attention(qk, F.normalize(qk, dim=-1), v, mask)[0]
