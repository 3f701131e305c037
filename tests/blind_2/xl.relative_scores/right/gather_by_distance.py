# no shift at all: one r per (query, key) looked up by distance, with einsum
def relative_scores(q, k, r, u, v):
    H, D = u.shape
    Q, K = q.shape[-2], k.shape[-2]
    content = torch.einsum("bhqd,bhkd->bhqk", q + u.reshape(1, H, 1, D), k)
    # absolute positions: query i sits at K - Q + i
    i = torch.arange(Q, device=q.device)[:, None] + (K - Q)
    j = torch.arange(K, device=q.device)[None, :]
    dist = (i - j).clamp(min=0)           # the future: whatever
    col = K - 1 - dist
    r_ij = r[:, col]                      # [H,Q,K,D]
    distance = torch.einsum("bhqd,hqkd->bhqk", q + v.reshape(1, H, 1, D), r_ij)
    return (content + distance) * D ** -0.5
