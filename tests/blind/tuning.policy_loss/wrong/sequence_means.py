# the mean of each answer first and then over the answers, so tokens of short answers weigh more
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    losses = []
    old_log_probs, advantages = old_log_probs.detach(), advantages.detach()
    for lp, old, a, m in zip(log_probs, old_log_probs, advantages, mask):
        if not m.any():
            continue
        r = torch.exp(lp[m] - old[m])
        losses.append(-torch.minimum(r * a, r.clamp(1 - clip, 1 + clip) * a).mean())
    if not losses:
        return (log_probs * 0).sum()
    return torch.stack(losses).mean()
