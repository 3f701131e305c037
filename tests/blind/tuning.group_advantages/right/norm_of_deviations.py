# the standard deviation as the length of the deviations, divided by the square root of N
def group_advantages(rewards, eps=1e-06):
    if not rewards.is_floating_point():
        rewards = rewards.to(torch.get_default_dtype())
    n = rewards.shape[1]
    centred = rewards - torch.einsum("gn->g", rewards).unsqueeze(1) / n
    spread = torch.linalg.vector_norm(centred, dim=1, keepdim=True) / n ** 0.5
    return centred / (spread + eps)
