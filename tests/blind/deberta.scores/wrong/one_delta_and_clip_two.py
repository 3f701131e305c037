# reads both tables at delta(i,j) + clips at k - 1 on both sides, so row 0 is never used
def disentangled_scores(qc, kc, qr, kr, k):
    b, h, n, d = qc.shape
    rel = torch.arange(n).unsqueeze(1) - torch.arange(n).unsqueeze(0)
    rel = rel.clamp(-(k - 1), k - 1) + k
    scores = torch.einsum("bhid,bhjd->bhij", qc, kc)
    scores = scores + (qc.unsqueeze(3) * kr[:, rel]).sum(-1)
    scores = scores + (kc.unsqueeze(2) * qr[:, rel]).sum(-1)
    return scores / (3 * d) ** 0.5
