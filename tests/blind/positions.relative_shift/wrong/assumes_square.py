# moves row i by R-1-i, which is right only for Q = R
def relative_shift(scores):
    B, H, Q, R = scores.shape
    i = torch.arange(Q, device=scores.device).unsqueeze(1)
    j = torch.arange(R, device=scores.device).unsqueeze(0)
    index = (j + (R - 1 - i)) % R
    return scores.gather(-1, index.expand(B, H, Q, R))
