# at a rejection the replacement is drawn from p itself instead of from max(p - q, 0)
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    n = len(draft_ids)
    out = []
    for i in range(n):
        x = draft_ids[i]
        if accept_u[i] < target_probs[i, x] / draft_probs[i, x]:
            out.append(int(x))
        else:
            break
    # the row where we stopped, or the extra row
    row = target_probs[len(out)]
    cum = torch.cumsum(row / row.sum(), dim=0)
    nxt = int((cum > last_u).nonzero()[0])
    return out + [nxt]
