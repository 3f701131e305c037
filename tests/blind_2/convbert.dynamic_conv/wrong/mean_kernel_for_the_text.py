# one kernel for the whole text (mean of the softmaxed logits) with conv1d instead of a kernel at each position
def span_dynamic_conv(value, kernel_logits):
    shape = value.shape
    L, D = shape[-2:]
    W = kernel_logits.shape[-1]
    v = value.reshape(-1, L, D)
    ker = F.softmax(kernel_logits, dim=-1).reshape(-1, L, W).mean(1)     # [B,W]
    outs = []
    for b in range(v.shape[0]):
        filt = ker[b].expand(D, 1, W)
        outs.append(F.conv1d(v[b].T[None], filt, padding=W // 2, groups=D)[0].T)
    return torch.stack(outs).reshape(shape)
