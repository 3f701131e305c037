# w_k is reshaped to [H,D,C] instead of transposed
def latent_attention(q, c, w_k, w_v, mask=None):
    H, C, D = w_k.shape
    absorbed = torch.matmul(q, w_k.reshape(H, D, C))
    scores = torch.matmul(absorbed, c[:, None].transpose(2, 3)) / (D ** 0.5)
    if mask is None:
        w = scores.softmax(-1)
    else:
        w = masked_softmax(scores, mask)
    ctx = torch.matmul(w, c[:, None])
    return torch.matmul(ctx, w_v)
