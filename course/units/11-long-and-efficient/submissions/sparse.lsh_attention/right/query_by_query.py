import math

import torch


def lsh_attention(qk, v, buckets):
    keys = torch.nn.functional.normalize(qk, dim=-1)
    rows = []
    for b in range(qk.shape[0]):
        outputs = []
        for i in range(qk.shape[1]):
            found = [j for j in range(i) if buckets[b, j] == buckets[b, i]] or [i]
            weights = (keys[b, found] @ qk[b, i] / math.sqrt(qk.shape[-1])).softmax(0)
            outputs.append(weights @ v[b, found])
        rows.append(torch.stack(outputs))
    return torch.stack(rows)
