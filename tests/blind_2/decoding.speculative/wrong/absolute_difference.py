# the replacement is drawn from |p - q| instead of max(p - q, 0)
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    def draw(weights):
        c = (weights / weights.sum()).cumsum(-1)
        return torch.searchsorted(c, torch.tensor([last_u], dtype=c.dtype), right=True).clamp(max=len(c) - 1).item()

    result = []
    for i in range(len(draft_ids)):
        x = draft_ids[i]
        p, q = target_probs[i], draft_probs[i]
        if accept_u[i] < torch.clamp(p[x] / q[x], max=1.0):
            result.append(x)
            continue
        result.append(draw((p - q).abs()))
        return result
    result.append(draw(target_probs[-1]))
    return result
