import torch


def flash_attention(q, k, v, block, causal=False):
    Q, K = q.size(-2), k.size(-2)
    O = torch.zeros(*q.shape[:-1], v.size(-1), dtype=torch.float32 if q.dtype != torch.float64 else torch.float64)
    l = torch.zeros(*q.shape[:-1], 1, dtype=O.dtype)
    m = torch.full_like(l, float("-inf"))
    qs = q.to(O.dtype)
    for kj, vj, j in zip(k.split(block, -2), v.split(block, -2), torch.arange(K).split(block)):
        S = qs @ kj.to(O.dtype).transpose(-1, -2) / q.size(-1) ** 0.5
        if causal:
            S = S.masked_fill(j[None, :] > torch.arange(K - Q, K)[:, None], float("-inf"))
        m_new = torch.maximum(m, S.max(dim=-1, keepdim=True).values)
        P = torch.exp(S - m_new)
        l_new = torch.exp(m - m_new) * l + P.sum(-1, keepdim=True)
        O = (l * torch.exp(m - m_new) * O + P @ vj.to(O.dtype)) / l_new
        m, l = m_new, l_new
    return O.to(q.dtype), (m + l.log()).squeeze(-1).to(q.dtype)
