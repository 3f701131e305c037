import torch.nn.functional as F


def reward_loss(chosen, rejected):
    margin = chosen - rejected
    losses = -F.logsigmoid(margin)
    return losses.mean()
