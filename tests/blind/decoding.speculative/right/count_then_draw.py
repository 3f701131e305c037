# counts the accepted prefix with cumprod, then one draw by the inverse of the cumulative sum
def _draw(weights, u):
    heights = torch.cumsum(weights.double(), dim=0)
    place = int((heights <= float(u) * heights[-1]).sum())
    last_possible = int(torch.nonzero(weights > 0).max())
    return min(place, last_possible)


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    n = len(draft_ids)
    ids = torch.tensor([int(i) for i in draft_ids])
    rows = torch.arange(n)
    u = torch.tensor([float(a) for a in accept_u], dtype=torch.float64)
    p = target_probs[:n][rows, ids].double()
    q = draft_probs[rows, ids].double()
    accepted = u * q < p
    k = int(torch.cumprod(accepted.long(), dim=0).sum())
    padded = torch.cat([draft_probs, torch.zeros_like(draft_probs[:1])])      # nothing to subtract after all
    rest = (target_probs[k] - padded[k]).clamp_min(0)
    return ids[:k].tolist() + [_draw(rest, last_u)]
