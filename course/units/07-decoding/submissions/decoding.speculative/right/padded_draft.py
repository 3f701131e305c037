import torch


def accept_draft(draft_ids, draft_probs, target_probs, accept_u, last_u):
    nothing = torch.zeros_like(draft_probs[:1])  # behind the last guess the draft has said nothing
    q = torch.cat([draft_probs, nothing])
    count = 0
    while count < len(draft_ids):
        token = draft_ids[count]
        if accept_u[count] >= float(target_probs[count, token]) / float(q[count, token]):
            break
        count += 1
    rest = torch.relu(target_probs[count].float() - q[count].float())
    rest = rest / rest.sum()
    found = torch.searchsorted(rest.cumsum(0), torch.tensor(last_u, device=rest.device), right=True)
    return list(draft_ids[:count]) + [min(int(found), len(rest) - 1)]
