# the minus sign is missing (the objective is returned) + mean per row first, then over the rows
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    ratio = (log_probs - old_log_probs.detach()).exp()
    A = advantages.detach()[:, None]
    m = mask.float()
    obj = torch.minimum(ratio * A, ratio.clamp(min=1 - clip, max=1 + clip) * A)
    per_row = (obj * m).sum(1) / m.sum(1).clamp(min=1)
    return per_row.mean()
