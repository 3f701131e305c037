# both tables are read at delta(i,j), also the queries' one that should be read at delta(j,i)
def disentangled_scores(qc, kc, qr, kr, k):
    L = qc.shape[2]
    i = torch.arange(L, device=qc.device).view(L, 1)
    j = torch.arange(L, device=qc.device).view(1, L)
    d = torch.clamp(i - j + k, 0, 2 * k - 1)
    s = qc @ kc.transpose(-1, -2)
    s = s + (qc[:, :, :, None, :] * kr[:, d]).sum(-1)
    s = s + (kc[:, :, None, :, :] * qr[:, d]).sum(-1)
    return s / math.sqrt(3 * qc.shape[-1])
