# adds a bias of -inf and replaces the NaN of an empty row after the softmax, so that the gradients are still NaN
def scaled_dot_product_attention(q, k, v, mask=None):
    attn_weight = torch.matmul(q, k.mT) / math.sqrt(q.shape[-1])
    if mask is not None:
        attn_bias = torch.zeros(mask.shape, dtype=q.dtype, device=q.device)
        attn_bias.masked_fill_(mask.logical_not(), float("-inf"))
        attn_weight = attn_weight + attn_bias
    attn_weight = attn_weight.softmax(-1)
    # rows where everything is masked give nan, make them zero
    attn_weight = torch.nan_to_num(attn_weight, nan=0.0)
    return torch.matmul(attn_weight, v), attn_weight
