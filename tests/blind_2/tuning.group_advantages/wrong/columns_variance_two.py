# statistics of the columns (dim 0) instead of the rows + divided by the variance
def group_advantages(rewards, eps=1e-06):
    var, mean = torch.var_mean(rewards, dim=0, correction=0)
    return (rewards - mean) / (var + eps)
