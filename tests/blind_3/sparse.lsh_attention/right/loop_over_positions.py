# style: one query at a time, with explicit lists of the keys that it sees
def lsh_attention(qk, v, buckets):
    B, L, D = qk.shape
    unit = qk / qk.norm(dim=-1, keepdim=True).clamp(min=1e-12)
    rows = []
    for b in range(B):
        where = buckets[b].tolist()
        outs = []
        for i in range(L):
            keys = [j for j in range(i) if where[j] == where[i]]
            if not keys:
                keys = [i]
            s = unit[b, keys] @ qk[b, i] / math.sqrt(D)
            outs.append(torch.softmax(s, 0) @ v[b, keys])
        rows.append(torch.stack(outs))
    return torch.stack(rows)
