# the third term is gathered in rows of keys and not transposed before it is added
def disentangled_scores(qc, kc, qr, kr, k):
    B, H, L, D = qc.shape
    pos = torch.arange(L)
    delta = torch.clamp(pos[:, None] - pos[None, :] + k, 0, 2 * k - 1)
    idx = delta.expand(B, H, L, L)
    c2c = qc @ kc.transpose(-1, -2)
    c2p = (qc @ kr.transpose(-1, -2)).gather(-1, idx)
    p2c = (kc @ qr.transpose(-1, -2)).gather(-1, idx)
    return (c2c + c2p + p2c) / math.sqrt(3 * D)
