# style: the two signs of the advantage as two cases, each with a one-sided clamp
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    A = advantages.detach().unsqueeze(1).expand_as(log_probs)[mask]
    r = (log_probs[mask] - old_log_probs.detach()[mask]).exp()
    good = r.clamp(max=1 + clip) * A
    bad = r.clamp(min=1 - clip) * A
    objective = torch.where(A >= 0, good, bad)
    return -objective.sum() / max(1, objective.numel())
