# accepts below q/p instead of p/q + no extra token when all draft tokens are accepted
def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    good = []
    for i, x in enumerate(draft_ids):
        p_x = target_probs[i][x].item()
        q_x = draft_probs[i][x].item()
        if p_x > 0 and accept_u[i] < min(1.0, q_x / p_x):
            good.append(x)
        else:
            rest = F.relu(target_probs[i] - draft_probs[i])
            rest = rest / rest.sum()
            total, w = 0.0, 0
            for w in range(len(rest)):
                total += rest[w].item()
                if total > last_u:
                    break
            good.append(w)
            break
    return good
