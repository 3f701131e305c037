# the position's query is multiplied with the content's query instead of its key + distance taken as j - i instead of i - j
def disentangled_scores(qc, kc, qr, kr, k):
    length = qc.shape[2]
    dist = torch.zeros(length, length, dtype=torch.long, device=qc.device)
    for i in range(length):
        for j in range(length):
            dist[i, j] = min(max(j - i + k, 0), 2 * k - 1)
    c2c = qc @ kc.mT
    c2p = (qc.unsqueeze(3) * kr[:, dist].unsqueeze(0)).sum(-1)
    p2c = (qc.unsqueeze(3) * qr[:, dist.T].unsqueeze(0)).sum(-1)
    return (c2c + c2p + p2c) / math.sqrt(3 * qc.shape[-1])
