# only the content product is divided by the root, the two position terms are added unscaled
def disentangled_scores(qc, kc, qr, kr, k):
    D = qc.shape[-1]
    L = qc.shape[-2]
    i = torch.arange(L)[:, None]
    j = torch.arange(L)[None, :]
    d_ij = torch.clip(i - j + k, 0, 2 * k - 1)
    d_ji = torch.clip(j - i + k, 0, 2 * k - 1)
    content = torch.matmul(qc, kc.transpose(2, 3)) / math.sqrt(3 * D)
    to_position = torch.einsum('bhid,hijd->bhij', qc, kr[:, d_ij])
    from_position = torch.einsum('bhjd,hijd->bhij', kc, qr[:, d_ji])
    return content + to_position + from_position
