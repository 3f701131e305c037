# style: one head after the other with plain matrix products, all in the space of c
def latent_attention(q, c, w_k, w_v, mask=None):
    B, H, Q, D = q.shape
    K = c.shape[1]
    if mask is not None:
        mask = mask.expand(B, H, Q, K)
    outs = []
    for h in range(H):
        absorbed = q[:, h] @ w_k[h].T  # [B,Q,C]
        scores = torch.bmm(absorbed, c.transpose(1, 2)) / D**0.5
        if mask is None:
            att = torch.softmax(scores, dim=-1)
        else:
            att = masked_softmax(scores, mask[:, h])
        outs.append(torch.bmm(att, c) @ w_v[h])  # mean of the c first, then unpack
    return torch.stack(outs, 1)
