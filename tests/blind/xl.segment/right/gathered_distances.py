# einsum for the heads and an index table of distances instead of relative_shift
def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    H, D = u.shape
    L, M = x.shape[1], memory.shape[1]
    K = M + L
    seen = torch.cat([memory.detach(), x], dim=1)

    def heads(t, w):
        return torch.einsum("...e,ehd->...hd", t, w.reshape(w.shape[0], H, D))

    q = heads(x, w_q)                      # [B,L,H,D]
    k, val = heads(seen, w_k), heads(seen, w_v)
    r = heads(position_encodings, w_r)     # [K,H,D]

    content = torch.einsum("blhd,bkhd->bhlk", q + u, k)
    by_column = torch.einsum("blhd,khd->bhlk", q + v, r)
    i = torch.arange(L, device=x.device)[:, None]
    j = torch.arange(K, device=x.device)[None, :]
    distance = M + i - j                   # negative: the future
    column = (K - 1 - distance).clamp(max=K - 1)
    by_distance = torch.gather(by_column, 3, column.expand(x.shape[0], H, L, K))
    scores = (content + by_distance) / D ** 0.5
    weights = scores.masked_fill(distance < 0, float("-inf")).softmax(dim=-1)
    output = torch.einsum("bhlk,bkhd->blhd", weights, val).flatten(2)

    start = max(K - memory_length, 0)
    return output, seen.detach()[:, start:].clone()
