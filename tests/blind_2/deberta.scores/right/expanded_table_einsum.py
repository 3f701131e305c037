# looks up an embedding for each pair, [H,L,L,D], and uses einsum for all three terms
def disentangled_scores(qc, kc, qr, kr, k):
    L, D = qc.shape[-2:]
    i = torch.arange(L, device=qc.device)
    delta = torch.clamp(i.view(-1, 1) - i.view(1, -1) + k, 0, 2 * k - 1)
    Kr = kr[:, delta]            # [H, i, j, D] at delta(i, j)
    Qr = qr[:, delta.t()]        # [H, i, j, D] at delta(j, i)
    A = torch.einsum("bhid,bhjd->bhij", qc, kc)
    A = A + torch.einsum("bhid,hijd->bhij", qc, Kr)
    A = A + torch.einsum("bhjd,hijd->bhij", kc, Qr)
    return A / (3 * D) ** 0.5
