# the einsum has another letter for the head of w_k, so the queries are projected with the sum of all heads' matrices
def latent_attention(q, c, w_k, w_v, mask=None):
    B, H, Q, D = q.shape
    K = c.size(1)
    q_latent = torch.einsum('bhqd,grd->bhqr', q, w_k)
    logits = torch.matmul(q_latent, c.unsqueeze(1).transpose(-1, -2)) * D ** -0.5
    if mask is None:
        mask = torch.ones(B, 1, Q, K, dtype=torch.bool, device=q.device)
    a = masked_softmax(logits, mask)
    ctx = torch.matmul(a, c.unsqueeze(1))
    return torch.matmul(ctx, w_v)
