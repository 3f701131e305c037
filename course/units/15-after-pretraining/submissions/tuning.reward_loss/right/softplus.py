import torch


def reward_loss(chosen, rejected):
    return torch.logaddexp(torch.zeros_like(chosen), rejected - chosen).mean()
