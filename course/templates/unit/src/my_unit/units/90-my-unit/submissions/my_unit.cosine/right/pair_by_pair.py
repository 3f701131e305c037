def cosine(x, y):
    dots = (x[:, None, :] * y[None, :, :]).sum(-1)
    return dots / (x.square().sum(-1).sqrt()[:, None] * y.square().sum(-1).sqrt()[None, :])
