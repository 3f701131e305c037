# one position after the other, choosing the visible keys as a list of indices
def lsh_attention(qk, v, buckets):
    B, L, D = qk.shape
    norm = qk.pow(2).sum(-1, keepdim=True).sqrt().clamp_min(1e-12)
    keys = qk / norm
    batches = []
    for b in range(B):
        rows = []
        for i in range(L):
            seen = [j for j in range(i) if buckets[b, j] == buckets[b, i]] or [i]
            s = keys[b, seen] @ qk[b, i] / math.sqrt(D)
            w = torch.softmax(s, dim=0)
            rows.append(w @ v[b, seen])
        batches.append(torch.stack(rows))
    return torch.stack(batches)
