# rejected tokens are skipped and the later draft tokens still tested, instead of being dropped; the replacement comes from the first rejection
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    n = len(draft_ids)
    ids = torch.tensor(draft_ids)
    p = target_probs[torch.arange(n), ids]
    q = draft_probs[torch.arange(n), ids]
    ok = torch.tensor(accept_u) < p / q
    kept = ids[ok].tolist()
    if ok.all():
        dist = target_probs[n]
    else:
        first = int((~ok).nonzero()[0])
        dist = (target_probs[first] - draft_probs[first]).clamp(min=0)
        dist = dist / dist.sum()
    extra = (dist.cumsum(0) > last_u).int().argmax().item()
    return kept + [extra]
