# at a rejection the replacement is drawn from p itself instead of from max(p - q, 0)
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    accepted = []
    for i, tok in enumerate(draft_ids):
        ratio = target_probs[i, tok] / draft_probs[i, tok]
        if accept_u[i] < ratio:
            accepted.append(tok)
        else:
            break
    row = target_probs[len(accepted)]
    cum = torch.cumsum(row, 0)
    nxt = int((cum <= last_u).sum())
    accepted.append(min(nxt, row.numel() - 1))
    return accepted
