# puts the column of zeros behind instead of in front
def relative_shift(scores):
    B, H, Q, R = scores.shape
    zeros = torch.zeros(B, H, Q, 1, dtype=scores.dtype, device=scores.device)
    x = torch.cat([scores, zeros], dim=-1)
    x = x.view(B, H, R + 1, Q)
    x = x[:, :, 1:]
    return x.reshape(B, H, Q, R)
