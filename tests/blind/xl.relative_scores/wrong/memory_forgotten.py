# takes query i to be at position i, instead of K - Q + i: wrong distances as soon as there is a memory
def relative_scores(q, k, r, u, v):
    B, H, Q, D = q.shape
    K = k.size(2)
    content = (q + u.view(1, H, 1, D)) @ k.transpose(-1, -2)
    table = torch.einsum("bhqd,hkd->bhqk", q + v.view(1, H, 1, D), r)
    i = torch.arange(Q).unsqueeze(1)
    j = torch.arange(K).unsqueeze(0)
    index = (K - 1 - (i - j)).clamp(0, K - 1).expand(B, H, Q, K)
    position = table.gather(-1, index)
    return (content + position) / math.sqrt(D)
