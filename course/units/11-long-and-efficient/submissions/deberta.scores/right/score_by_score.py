import torch


def disentangled_scores(qc, kc, qr, kr, k):
    length, width = qc.shape[-2:]

    def delta(i, j):
        return min(max(i - j + k, 0), 2 * k - 1)

    def score(i, j):
        a = (qc[:, :, i] * kc[:, :, j]).sum(-1)
        b = (qc[:, :, i] * kr[:, delta(i, j)]).sum(-1)
        c = (kc[:, :, j] * qr[:, delta(j, i)]).sum(-1)
        return (a + b + c) / (3 * width) ** 0.5

    rows = [torch.stack([score(i, j) for j in range(length)], dim=-1) for i in range(length)]
    return torch.stack(rows, dim=-2)
