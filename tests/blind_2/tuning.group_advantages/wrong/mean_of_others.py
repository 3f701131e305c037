# subtracts the mean of the other answers only (leave-one-out), not of the whole row
def group_advantages(rewards, eps=1e-06):
    G, N = rewards.shape
    others = (rewards.sum(-1, keepdim=True) - rewards) / (N - 1)
    scale = rewards.var(dim=-1, unbiased=False, keepdim=True).sqrt()
    return (rewards - others) / (scale + eps)
