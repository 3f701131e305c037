import torch


def clipped_policy_loss(log_probs, old_log_probs, advantages, mask, clip=0.2):
    if not mask.any():
        return (log_probs * 0.0).sum()
    advantage = advantages.detach()[:, None].expand(log_probs.shape)[mask]
    ratio = torch.exp(log_probs[mask] - old_log_probs.detach()[mask])
    losses = torch.maximum(-ratio * advantage, -torch.clip(ratio, 1 - clip, 1 + clip) * advantage)
    return losses.mean()
