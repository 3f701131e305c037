# the new memory is made of the states that come out of the layer, not of those that came in
def segment_attention(x, memory, position_encodings, w_q, w_k, w_v, w_r, u, v, memory_length):
    n_heads, d = u.shape
    seg_len, mem_len = x.shape[1], memory.shape[1]
    full = torch.cat((memory.detach(), x), dim=1)
    queries = split_heads(torch.matmul(x, w_q), n_heads)
    keys = split_heads(torch.matmul(full, w_k), n_heads)
    values = split_heads(torch.matmul(full, w_v), n_heads)
    rel = torch.matmul(position_encodings, w_r).view(-1, n_heads, d).permute(1, 0, 2)

    content = torch.matmul(queries + u[None, :, None], keys.transpose(-1, -2))
    distance = relative_shift(torch.matmul(queries + v[None, :, None], rel.transpose(-1, -2)))
    scores = (content + distance) / d**0.5
    allowed = torch.ones(seg_len, seg_len + mem_len, dtype=torch.bool).tril(mem_len)
    weights = masked_softmax(scores, allowed)
    output = merge_heads(torch.matmul(weights, values))
    everything = torch.cat((memory, output), dim=1).detach()
    start = max(0, everything.shape[1] - memory_length)
    return output, everything[:, start:]
