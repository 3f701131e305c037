# only content to content is divided by sqrt(3D), the two other terms are added unscaled
def disentangled_scores(qc, kc, qr, kr, k):
    L, D = qc.size(-2), qc.size(-1)
    scores = torch.einsum("bhid,bhjd->bhij", qc, kc) / (3 * D) ** 0.5
    r = torch.arange(L, device=qc.device)

    def delta(a, b):
        return (a - b + k).clip(0, 2 * k - 1)

    dij = delta(r[:, None], r[None, :])
    dji = delta(r[None, :], r[:, None])
    scores = scores + torch.einsum("bhid,hijd->bhij", qc, kr[:, dij])
    scores = scores + torch.einsum("bhjd,hijd->bhij", kc, qr[:, dji])
    return scores
