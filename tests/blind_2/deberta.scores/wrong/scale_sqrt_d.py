# divides by sqrt(D), as in ordinary attention, not by sqrt(3D)
def disentangled_scores(qc, kc, qr, kr, k):
    L = qc.shape[2]
    out = torch.zeros(qc.shape[0], qc.shape[1], L, L)

    def d(i, j):
        return max(0, min(2 * k - 1, i - j + k))

    for i in range(L):
        for j in range(L):
            a = (qc[:, :, i] * kc[:, :, j]).sum(-1)
            b = (qc[:, :, i] * kr[None, :, d(i, j)]).sum(-1)
            c = (kc[:, :, j] * qr[None, :, d(j, i)]).sum(-1)
            out[:, :, i, j] = a + b + c
    return out / math.sqrt(qc.shape[-1])
