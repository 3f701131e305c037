# zeroes masked words after the softmax without renormalising + divides the context by the number of words again
def attend(query, keys, mask):
    all_ctx, all_w = [], []
    for q, k, m in zip(query, keys, mask):
        w = F.softmax(k @ q, dim=0)
        w = w * m
        all_w.append(w)
        all_ctx.append((w[:, None] * k).mean(0))
    return torch.stack(all_ctx), torch.stack(all_w)
