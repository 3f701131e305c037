# takes the mean of the differences first and then -log sigmoid
def reward_loss(chosen, rejected):
    average_margin = torch.mean(chosen - rejected)
    p = 1 / (1 + torch.exp(-average_margin))
    return -torch.log(p)
