# the distance is j - i instead of i - j + the third term uses the query's content instead of the key's
def disentangled_scores(qc, kc, qr, kr, k):
    D = qc.size(-1)
    n = qc.size(-2)
    r = torch.arange(n)
    delta = (r[None, :] - r[:, None] + k).clip(0, 2 * k - 1)
    cc = torch.einsum("bhid,bhjd->bhij", qc, kc)
    cp = torch.einsum("bhid,hijd->bhij", qc, kr[:, delta])
    pc = torch.einsum("bhid,hijd->bhij", qc, qr[:, delta.T])
    return (cc + cp + pc) / math.sqrt(3 * D)
