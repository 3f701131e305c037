# a mathematician's convolution: weight w meets value[i - w + W//2], the kernel is mirrored
def span_dynamic_conv(value, kernel_logits):
    W = kernel_logits.shape[-1]
    half = W // 2
    L = value.shape[-2]
    p = torch.softmax(kernel_logits, dim=-1)
    padded = F.pad(value, (0, 0, half, half))
    out = 0
    for w in range(W):
        start = W - 1 - w
        out = out + p[..., w, None] * padded[..., start:start + L, :]
    return out
