# style: each question's row by hand, variance as the mean of squared deviations
def group_advantages(rewards, eps=1e-06):
    rows = []
    for r in rewards:
        n = r.shape[0]
        centred = r - r.mean()
        std = (torch.dot(centred, centred) / n).sqrt()
        rows.append(centred / (std + eps))
    return torch.stack(rows)
