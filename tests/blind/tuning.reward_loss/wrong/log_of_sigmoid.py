# logarithm of the sigmoid with a small number for safety: large differences give a constant and no gradient
def reward_loss(chosen, rejected):
    p = torch.sigmoid(chosen - rejected)
    return -torch.log(p + 1e-8).mean()
