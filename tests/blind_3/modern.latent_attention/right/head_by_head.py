# style: one head after the other with plain matrix products, softmax in between
def latent_attention(q, c, w_k, w_v, mask=None):
    B, H, Q, D = q.shape
    K = c.shape[1]
    if mask is None:
        mask = torch.ones(Q, K, dtype=torch.bool, device=q.device)
    mask = mask.expand(B, H, Q, K)
    heads = []
    for h in range(H):
        in_c_space = torch.matmul(q[:, h], w_k[h].t())              # [B,Q,C]
        s = torch.bmm(in_c_space, c.transpose(1, 2)) / D ** 0.5       # [B,Q,K]
        a = masked_softmax(s, mask[:, h])
        heads.append(torch.bmm(a, c).matmul(w_v[h]))
    return torch.stack(heads, dim=1)
