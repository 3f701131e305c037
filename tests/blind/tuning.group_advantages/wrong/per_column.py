# the mean and the deviation run over the questions (axis 0) instead of the answers
def group_advantages(rewards, eps=1e-06):
    mu = rewards.sum(0) / rewards.shape[0]
    sigma = (((rewards - mu) ** 2).sum(0) / rewards.shape[0]) ** 0.5
    return (rewards - mu) / (sigma + eps)
