# NaN (0/0) instead of 0 when no target counts
def chunked_cross_entropy(h, w, targets, chunk):
    acc_type = torch.float64 if h.dtype == torch.float64 else torch.float32
    total = torch.tensor(0.0, dtype=acc_type, device=h.device)
    count = torch.tensor(0, device=h.device)
    for i in range((len(h) + chunk - 1) // chunk):
        sl = slice(i * chunk, (i + 1) * chunk)
        keep = targets[sl] != -100
        hh, tt = h[sl][keep], targets[sl][keep]
        logp = torch.log_softmax((hh @ w.t()).to(acc_type), dim=-1)
        total = total - logp[torch.arange(len(tt), device=h.device), tt].sum()
        count = count + keep.sum()
    return (total / count).to(h.dtype)
