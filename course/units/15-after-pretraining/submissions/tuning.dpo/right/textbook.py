import torch.nn.functional as F


def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta):
    chosen_reward = beta * (chosen - ref_chosen.detach())
    rejected_reward = beta * (rejected - ref_rejected.detach())
    margin = chosen_reward - rejected_reward
    losses = -F.logsigmoid(margin)
    return losses.mean()
