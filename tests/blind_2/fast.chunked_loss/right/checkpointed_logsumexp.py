# style: a checkpointed helper that returns the summed loss of one chunk, logsumexp minus the target's logit
def chunked_cross_entropy(h, w, targets, chunk):
    from torch.utils.checkpoint import checkpoint

    acc = torch.promote_types(h.dtype, torch.float32)

    def loss_of(hc, tc, w):
        logits = torch.einsum("ne,ve->nv", hc, w).to(acc)
        counted = tc >= 0
        goal = logits.gather(1, tc.clamp(min=0)[:, None])[:, 0]
        losses = torch.logsumexp(logits, dim=1) - goal
        return torch.where(counted, losses, torch.zeros_like(losses)).sum()

    total = h.new_zeros((), dtype=acc)
    at = 0
    while at < len(h):
        total = total + checkpoint(loss_of, h[at : at + chunk], targets[at : at + chunk], w, use_reentrant=False)
        at += chunk
    n = int((targets != -100).sum())
    return (total / max(n, 1)).to(h.dtype)
