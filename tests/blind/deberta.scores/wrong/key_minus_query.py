# the distance is j - i instead of i - j
def disentangled_scores(qc, kc, qr, kr, k):
    L = qc.size(2)

    def delta(i, j):
        return max(0, min(j - i + k, 2 * k - 1))

    rows = []
    for i in range(L):
        cells = []
        for j in range(L):
            q, key = qc[:, :, i], kc[:, :, j]
            s = (q * key).sum(-1) + (q * kr[:, delta(i, j)]).sum(-1) + (key * qr[:, delta(j, i)]).sum(-1)
            cells.append(s)
        rows.append(torch.stack(cells, -1))
    return torch.stack(rows, -2) / math.sqrt(3 * qc.size(-1))
