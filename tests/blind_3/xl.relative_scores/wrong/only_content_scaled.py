# only the content term is divided by sqrt(D), the distance term is not
def relative_scores(q, k, r, u, v):
    H, D = u.shape
    content_q = q + u.view(1, H, 1, D)
    dist_q = q + v.view(1, H, 1, D)
    by_key = torch.matmul(content_q, k.mT) / math.sqrt(D)
    by_distance = torch.einsum("bhqd,hkd->bhqk", dist_q, r)
    return by_key + relative_shift(by_distance)
