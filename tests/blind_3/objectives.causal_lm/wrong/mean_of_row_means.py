# mean of the texts' means instead of the mean over all predicted tokens (short texts weigh too much)
def causal_lm_loss(logits, ids, pad_id):
    B = ids.shape[0]
    losses = []
    for b in range(B):
        target = ids[b, 1:]
        lp = F.log_softmax(logits[b, :-1], dim=-1)
        keep = target != pad_id
        if keep.sum() == 0:
            losses.append(logits.new_zeros(()))
            continue
        picked = lp[torch.arange(len(target)), target]
        losses.append(-picked[keep].mean())
    return torch.stack(losses).mean()
