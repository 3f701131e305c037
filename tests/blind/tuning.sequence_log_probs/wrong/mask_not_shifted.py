# shifts logits and labels but takes the mask from the unshifted labels
def sequence_log_probs(logits, labels):
    mask = labels != -100
    targets = labels.masked_fill(~mask, 0)
    B, L, V = logits.shape
    total = torch.zeros(B, dtype=logits.dtype, device=logits.device)
    for t in range(1, L):
        lp = logits[:, t - 1].log_softmax(-1)
        picked = lp[torch.arange(B), targets[:, t]]
        total = total + torch.where(mask[:, t - 1], picked, torch.zeros_like(picked))
    return total
