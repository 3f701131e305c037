# drops the last position of a text of odd length
def pool_sequence(x, mask):
    n = x.size(1) // 2
    x, mask = x[:, :2 * n], mask[:, :2 * n]
    m = mask.unsqueeze(-1)
    x = torch.where(m, x, torch.zeros((), dtype=x.dtype, device=x.device))
    s = x[:, ::2] + x[:, 1::2]
    count = m[:, ::2].to(x.dtype) + m[:, 1::2].to(x.dtype)
    return s / count.clamp(min=1), (count > 0).squeeze(-1)
