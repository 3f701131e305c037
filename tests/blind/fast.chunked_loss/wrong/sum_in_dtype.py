# adds up in the dtype of h, which loses small terms in bfloat16
def chunked_cross_entropy(h, w, targets, chunk):
    total = torch.zeros((), dtype=h.dtype, device=h.device)
    n = 0
    i = 0
    while i < len(targets):
        logits = F.linear(h[i:i + chunk], w)
        t = targets[i:i + chunk]
        total += F.cross_entropy(logits, t, ignore_index=-100, reduction="sum").to(h.dtype)
        n += (t != -100).sum()
        i += chunk
    return total / torch.clamp(torch.as_tensor(n), min=1)
