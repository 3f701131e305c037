# looks up the embedding of each pair first, then three einsums
def disentangled_scores(qc, kc, qr, kr, k):
    length, width = qc.shape[-2:]
    place = torch.arange(length, device=qc.device)
    delta = (place.view(-1, 1) - place.view(1, -1) + k).clamp(0, 2 * k - 1)
    seen_from_query = kr[:, delta]                   # [H,i,j,D]
    seen_from_key = qr[:, delta.T]                   # [H,i,j,D] at delta(j,i)
    total = (
        torch.einsum("bhid,bhjd->bhij", qc, kc)
        + torch.einsum("bhid,hijd->bhij", qc, seen_from_query)
        + torch.einsum("bhjd,hijd->bhij", kc, seen_from_key)
    )
    return total * (3 * width) ** -0.5
