# torch.std's default, over N - 1
def group_advantages(rewards, eps=1e-06):
    mean = rewards.mean(dim=1, keepdim=True)
    std = rewards.std(dim=1, keepdim=True)
    return (rewards - mean) / (std + eps)
