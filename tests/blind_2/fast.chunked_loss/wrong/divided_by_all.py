# divides by the number of all positions, those with -100 included
def chunked_cross_entropy(h, w, targets, chunk):
    n = h.shape[0]
    loss = torch.zeros((), dtype=torch.float32, device=h.device)
    for start in range(0, n, chunk):
        end = start + chunk
        lg = F.linear(h[start:end], w).float()
        loss = loss + F.cross_entropy(lg, targets[start:end], reduction="sum")
    return (loss / n).to(h.dtype)
