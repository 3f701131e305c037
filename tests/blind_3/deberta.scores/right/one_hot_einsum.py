# style: the distances as a one-hot tensor, everything in einsum

def disentangled_scores(qc, kc, qr, kr, k):
    L, D = qc.shape[-2], qc.shape[-1]
    pos = torch.arange(L, device=qc.device)
    delta = (pos[:, None] - pos[None, :] + k).clip(0, 2 * k - 1)
    # pick[i, j, r] = 1 where row r of the table belongs to the pair (i, j)
    pick = F.one_hot(delta, 2 * k).to(qc.dtype)

    c2c = torch.einsum("bhid,bhjd->bhij", qc, kc)
    c2p = torch.einsum("bhir,ijr->bhij", torch.einsum("bhid,hrd->bhir", qc, kr), pick)
    p2c = torch.einsum("bhjr,jir->bhij", torch.einsum("bhjd,hrd->bhjr", kc, qr), pick)
    return (c2c + c2p + p2c) * (3 * D) ** -0.5
