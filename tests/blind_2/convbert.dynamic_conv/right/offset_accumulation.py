# accumulates one shifted copy for each kernel weight, slices instead of padding
def span_dynamic_conv(value, kernel_logits):
    L, W = kernel_logits.shape[-2:]
    probs = torch.softmax(kernel_logits, -1)
    out = torch.zeros_like(value)
    for w in range(W):
        off = w - W // 2
        lo, hi = max(0, -off), min(L, L - off)     # rows i with 0 <= i + off < L
        if lo >= hi:
            continue
        piece = probs[..., lo:hi, w:w + 1] * value[..., lo + off:hi + off, :]
        out = out + F.pad(piece, (0, 0, lo, L - hi))
    return out
