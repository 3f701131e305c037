# the gathered third term is indexed by key and query and is added without transposing it
def disentangled_scores(qc, kc, qr, kr, k):
    H, D = qc.size(1), qc.size(3)
    L = qc.size(2)
    rel = torch.arange(L).unsqueeze(1) - torch.arange(L).unsqueeze(0)
    idx = torch.clamp(rel + k, min=0, max=2 * k - 1)
    idx = idx[None, None].expand(qc.size(0), H, L, L)
    score = torch.matmul(qc, kc.mT)
    score = score + torch.matmul(qc, kr.mT).gather(3, idx)
    score = score + torch.matmul(kc, qr.mT).gather(3, idx)
    return score / math.sqrt(3 * D)
