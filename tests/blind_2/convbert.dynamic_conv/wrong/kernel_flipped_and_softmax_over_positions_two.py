# the kernel is flipped: weight w meets i - w + W//2 + the softmax runs over the positions
def span_dynamic_conv(value, kernel_logits):
    W = kernel_logits.shape[-1]
    L = value.shape[-2]
    weights = torch.softmax(kernel_logits, dim=-2)
    pad = F.pad(value, (0, 0, W // 2, W // 2))
    result = 0
    for w in range(W):
        start = W - 1 - w
        result = result + weights[..., w, None] * pad[..., start:start + L, :]
    return result
