# no padding: for each w adds the overlapping slice of the values, weighted, to a table of zeros
def span_dynamic_conv(value, kernel_logits):
    length, width = value.shape[-2], kernel_logits.shape[-1]
    weights = kernel_logits.softmax(dim=-1)
    out = torch.zeros_like(value)
    for w in range(width):
        offset = w - width // 2
        first, last = max(0, -offset), min(length, length - offset)
        if first < last:
            part = weights[..., first:last, w:w + 1] * value[..., first + offset:last + offset, :]
            out[..., first:last, :] = out[..., first:last, :] + part
    return out
