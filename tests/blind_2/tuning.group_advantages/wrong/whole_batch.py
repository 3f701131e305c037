# mean and standard deviation over all questions together, not of each question's row
def group_advantages(rewards, eps=1e-06):
    mu = rewards.mean()
    sigma = torch.sqrt(((rewards - mu) ** 2).mean())
    return (rewards - mu) / (sigma + eps)
