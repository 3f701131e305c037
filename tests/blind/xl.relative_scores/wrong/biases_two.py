# u and v exchanged: u with the distances, v with the keys + forgets to divide by the root of D
def relative_scores(q, k, r, u, v):
    b, h, Q, d = q.shape
    K = k.shape[2]
    u_, v_ = u.reshape(1, h, 1, d), v.reshape(1, h, 1, d)
    AC = torch.einsum("bhid,bhjd->bhij", q + v_, k)
    BD = torch.einsum("bhid,hjd->bhij", q + u_, r)
    # the shift of the Transformer-XL code: pad a column of zeros, reshape, cut
    padded = torch.cat([torch.zeros(b, h, Q, 1), BD], dim=-1)
    padded = padded.reshape(b, h, K + 1, Q)
    BD = padded[:, :, 1:].reshape(b, h, Q, K)
    return AC + BD
