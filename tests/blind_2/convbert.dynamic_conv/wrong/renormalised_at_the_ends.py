# the weights beyond the ends are hidden before the softmax, so the rest is renormalised
def span_dynamic_conv(value, kernel_logits):
    L, D = value.shape[-2:]
    W = kernel_logits.shape[-1]
    h = W // 2
    idx = torch.arange(L)[:, None] + torch.arange(W)[None, :] - h
    ok = (idx >= 0) & (idx < L)
    w = kernel_logits.masked_fill(~ok, float("-inf")).softmax(-1)
    vals = value[..., idx.clamp(0, L - 1), :]           # [...,L,W,D]
    return (w.unsqueeze(-1) * vals).sum(-2)
