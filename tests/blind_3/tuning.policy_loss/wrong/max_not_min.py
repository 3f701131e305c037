# the maximum of the two instead of the minimum
def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    ratio = torch.exp(log_probs - old_log_probs.detach())
    adv = advantages.detach()[:, None]
    loss1 = ratio * adv
    loss2 = ratio.clamp(1 - clip, 1 + clip) * adv
    loss = -torch.max(loss1, loss2)
    loss = torch.where(mask, loss, torch.zeros_like(loss))
    return loss.sum() / mask.sum().clamp(min=1)
