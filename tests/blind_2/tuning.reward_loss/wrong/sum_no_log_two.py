# sum instead of mean + 1 - p instead of -log p
def reward_loss(chosen, rejected):
    loss = torch.zeros((), dtype=chosen.dtype)
    for c, r in zip(chosen, rejected):
        p = torch.sigmoid(c - r)
        loss = loss + (1 - p)
    return loss
