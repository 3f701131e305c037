# picks the distance vector of each pair of positions with an index table, no relative_shift
def relative_scores(q, k, r, u, v):
    Q, D = q.shape[-2:]
    K = k.shape[-2]
    i = torch.arange(K - Q, K, device=q.device).view(Q, 1)    # true positions of the queries
    j = torch.arange(K, device=q.device).view(1, K)
    dist = (i - j).clamp(min=0)           # the future is masked later, anything will do
    r_ij = r[:, K - 1 - dist]             # [H,Q,K,D]
    content = torch.einsum("bhqd,bhkd->bhqk", q + u[:, None], k)
    distance = torch.einsum("bhqd,hqkd->bhqk", q + v[:, None], r_ij)
    return (content + distance) / D ** 0.5
