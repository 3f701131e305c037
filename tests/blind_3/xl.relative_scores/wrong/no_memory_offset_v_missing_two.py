# queries counted from position 0, the memory in front of them forgotten + v never added to the distance term (u in its place)
def relative_scores(q, k, r, u, v):
    Q, K, D = q.shape[2], k.shape[2], q.shape[3]
    qu = q + u[None, :, None, :]
    delta = torch.arange(Q)[:, None] - torch.arange(K)[None, :]
    delta = torch.clamp(delta, 0, K - 1)
    table = torch.einsum("bhqd,hkd->bhqk", qu, r)
    index = (K - 1 - delta).expand(q.shape[0], q.shape[1], Q, K)
    return (torch.einsum("bhqd,bhkd->bhqk", qu, k) + table.gather(3, index)) * D ** -0.5
