# takes the logarithm of the mean probability instead of the mean of the logarithms
def reward_loss(chosen, rejected):
    preferred = 1 / (1 + torch.exp(rejected - chosen))
    mean_preferred = preferred.mean()
    return -mean_preferred.log()
