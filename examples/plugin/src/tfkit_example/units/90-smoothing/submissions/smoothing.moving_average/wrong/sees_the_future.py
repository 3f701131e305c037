"""Every position of yours gets the mean of the whole sequence: it sees what comes after it."""


def moving_average(x):
    return x.mean(1, keepdim=True).expand_as(x)
