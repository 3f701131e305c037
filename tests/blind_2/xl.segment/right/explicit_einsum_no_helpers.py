# own code for everything: heads as an einsum axis, distances by gathering, softmax with -inf
def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    B, L, E = x.shape
    M = memory.shape[1]
    H, D = u.shape
    K = M + L
    ctx = torch.cat([memory.detach(), x], 1)
    wq, wk, wv, wr = (w.reshape(E, H, D) for w in (w_q, w_k, w_v, w_r))
    q = torch.einsum("ble,ehd->blhd", x, wq)
    k = torch.einsum("bke,ehd->bkhd", ctx, wk)
    val = torch.einsum("bke,ehd->bkhd", ctx, wv)
    r = torch.einsum("ke,ehd->khd", position_encodings, wr)

    qi = torch.arange(L, device=x.device).unsqueeze(1) + M
    kj = torch.arange(K, device=x.device).unsqueeze(0)
    future = kj > qi
    row = (K - 1 - (qi - kj)).clamp(0, K - 1)     # row of r for the distance qi - kj
    r_pair = r[row]                               # [L,K,H,D]
    s = torch.einsum("blhd,bkhd->bhlk", q + u, k) + torch.einsum("blhd,lkhd->bhlk", q + v, r_pair)
    s = (s / math.sqrt(D)).masked_fill(future, -math.inf)
    out = torch.einsum("bhlk,bkhd->blhd", s.softmax(-1), val).reshape(B, L, E)
    keep = min(memory_length, K)
    return out, ctx[:, K - keep:].detach()
