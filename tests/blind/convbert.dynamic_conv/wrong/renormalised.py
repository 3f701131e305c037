# hides the places beyond the ends before the softmax, so that the weights are renormalised there
def span_dynamic_conv(value, kernel_logits):
    L, W = kernel_logits.shape[-2:]
    source = torch.arange(L, device=value.device)[:, None] + torch.arange(W, device=value.device) - W // 2
    outside = (source < 0) | (source >= L)
    weights = kernel_logits.masked_fill(outside, -math.inf).softmax(-1)
    neighbours = value[..., source.clamp(0, L - 1), :]          # [...,L,W,D]
    return (weights.unsqueeze(-1) * neighbours).sum(-2)
