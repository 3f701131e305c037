# one head after another, with plain matrix products in the space of c
import math


def latent_attention(q, c, w_k, w_v, mask=None):
    B, H, Q, D = q.shape
    K = c.shape[1]
    if mask is None:
        mask = torch.ones(Q, K, dtype=torch.bool, device=q.device)
    mask = mask.expand(B, H, Q, K)
    outputs = []
    for h in range(H):
        inside = q[:, h] @ w_k[h].T                          # [B,Q,R]
        scores = inside @ c.transpose(1, 2) / math.sqrt(D)
        shown = mask[:, h]
        dead = ~shown.any(-1, keepdim=True)
        scores = scores.masked_fill(~shown, -math.inf).masked_fill(dead, 0.0)
        weights = scores.softmax(-1).masked_fill(dead, 0.0)
        outputs.append((weights @ c) @ w_v[h])
    return torch.stack(outputs, dim=1)
