# position to content is gathered as [key, query] and added without being transposed
def disentangled_scores(qc, kc, qr, kr, k):
    B, H, L, D = qc.shape
    ids = torch.arange(L, device=qc.device)
    rel = (ids.unsqueeze(1) - ids.unsqueeze(0) + k).clamp(min=0, max=2 * k - 1)
    rel = rel.expand(B, H, L, L)

    content = torch.matmul(qc, kc.transpose(2, 3))
    c2p_all = torch.matmul(qc, kr.transpose(1, 2))     # B,H,L,2k
    p2c_all = torch.matmul(kc, qr.transpose(1, 2))     # B,H,L,2k
    c2p = torch.gather(c2p_all, 3, rel)
    p2c = torch.gather(p2c_all, 3, rel)
    return (content + c2p + p2c) / math.sqrt(3 * D)
