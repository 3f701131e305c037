# leaves out the last chunk if it is not full
def chunked_cross_entropy(h, w, targets, chunk):
    loss = h.new_zeros((), dtype=torch.float32)
    count = 0
    for c in range(h.shape[0] // chunk):
        rows = slice(c * chunk, (c + 1) * chunk)
        log_p = torch.log_softmax(torch.einsum("ne,ve->nv", h[rows], w).float(), dim=-1)
        y = targets[rows]
        valid = y.ge(0)
        picked = log_p.gather(1, y.clamp(min=0).unsqueeze(1)).squeeze(1)
        loss = loss - torch.where(valid, picked, torch.zeros_like(picked)).sum()
        count = count + valid.sum().item()
    return loss / max(1, count)
