# the third term reads its table at delta(i,j), as the published code does, instead of delta(j,i)
def disentangled_scores(qc, kc, qr, kr, k):
    B, H, L, D = qc.shape
    pos = torch.arange(L)
    delta = (pos[:, None] - pos[None, :] + k).clamp(0, 2 * k - 1)
    c2c = qc @ kc.transpose(-1, -2)
    c2p_all = qc @ kr.transpose(-1, -2)                       # [B,H,L,2k]
    c2p = torch.gather(c2p_all, -1, delta.expand(B, H, L, L))
    p2c_all = kc @ qr.transpose(-1, -2)                       # [B,H,L(j),2k]
    p2c = torch.stack([p2c_all[:, :, j, delta[:, j]] for j in range(L)], dim=-1)
    return (c2c + c2p + p2c) / math.sqrt(3 * D)
