# no square root (divides by the mean square) + multiplies with (1+weight)
def rms_norm(x, weight, eps=1e-06):
    xf = x.float()
    mean_sq = (xf ** 2).mean(-1).unsqueeze(-1)
    y = xf / (mean_sq + eps)
    return (y * (1 + weight.float())).to(x.dtype)
