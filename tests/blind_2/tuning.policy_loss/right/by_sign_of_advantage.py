# style: case by case of the advantage's sign, with minimum/maximum instead of clamp, only the counted tokens
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    adv = advantages.detach()[:, None].expand(log_probs.shape)[mask]
    ratio = (log_probs[mask] - old_log_probs.detach()[mask]).exp()
    if ratio.numel() == 0:
        return ratio.sum()
    hi, lo = torch.full_like(ratio, 1 + clip), torch.full_like(ratio, 1 - clip)
    # good answers: never more than 1+clip counts. bad answers: never less than 1-clip counts
    used = torch.where(adv >= 0, torch.minimum(ratio, hi), torch.maximum(ratio, lo))
    return -(used * adv).mean()
