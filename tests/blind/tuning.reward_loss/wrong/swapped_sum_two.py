# rejected minus chosen + the sum instead of the mean
def reward_loss(chosen, rejected):
    loss = 0
    for c, r in zip(chosen, rejected):
        loss = loss - F.logsigmoid(r - c)
    return loss
