# divides by the square root of the full width E instead of the head's width D
def _heads(t, n):
    return t.unflatten(-1, (n, -1)).transpose(-3, -2)


def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    context = torch.cat([memory.detach(), x], dim=1)
    n_heads = u.size(0)
    L, K, E = x.size(1), context.size(1), x.size(2)
    q, k, val = _heads(x @ w_q, n_heads), _heads(context @ w_k, n_heads), _heads(context @ w_v, n_heads)
    r = _heads(position_encodings @ w_r, n_heads)
    pos = torch.matmul(q + v.unsqueeze(1), r.transpose(-1, -2))
    # the trick from the paper: pad by a zero column and read it again with another row length
    pos = F.pad(pos, (1, 0)).reshape(x.size(0), n_heads, K + 1, L)[:, :, 1:].reshape(x.size(0), n_heads, L, K)
    scores = torch.matmul(q + u.unsqueeze(1), k.transpose(-1, -2)) + pos
    scores = scores / math.sqrt(E)
    future = torch.triu(torch.ones(L, K, dtype=torch.bool, device=x.device), diagonal=1 + K - L)
    weights = scores.masked_fill(future, float("-inf")).softmax(-1)
    output = torch.matmul(weights, val).transpose(1, 2).flatten(-2)
    new_memory = context.detach()
    if new_memory.size(1) > memory_length:
        new_memory = new_memory[:, new_memory.size(1) - memory_length:]
    return output, new_memory
