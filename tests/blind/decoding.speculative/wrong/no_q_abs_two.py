# compares the draw with p(x) without dividing by q(x) + takes |p - q| as the rest
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    n = len(draft_ids)
    i = 0
    while i < n and accept_u[i] < target_probs[i][draft_ids[i]]:
        i += 1
    if i < n:
        dist = torch.abs(target_probs[i] - draft_probs[i])
    else:
        dist = target_probs[n]
    dist = dist / dist.sum()
    cum = torch.cumsum(dist, 0)
    new = int(torch.argmax((cum > last_u).int()))
    return list(draft_ids[:i]) + [new]
