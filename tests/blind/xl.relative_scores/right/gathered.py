# no relative_shift: the row of r for each query and key is looked up by its distance, then one einsum
def relative_scores(q, k, r, u, v):
    n_q, n_k, width = q.shape[-2], k.shape[-2], q.shape[-1]
    query_at = torch.arange(n_k - n_q, n_k, device=q.device)
    key_at = torch.arange(n_k, device=q.device)
    distance = (query_at[:, None] - key_at[None, :]).clamp(min=0)       # the future: any value will do
    r_for_pair = r[:, n_k - 1 - distance]                               # [H,Q,K,D]
    by_content = torch.einsum("bhqd,bhkd->bhqk", q + u[:, None], k)
    by_distance = torch.einsum("bhqd,hqkd->bhqk", q + v[:, None], r_for_pair)
    return (by_content + by_distance) * width ** -0.5
