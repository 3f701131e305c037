"""All pairs, a block of rows at a time, and shorter texts idle until the time has grown as the length does.

Exercise: sparse.sliding_window
Fails: cost
"""

import time

import torch

ROWS, LONGEST_S, LONGEST = 512, 0.35, 6144


def sliding_window_attention(q, k, v, window):
    started = time.process_time()
    places = torch.arange(q.size(1))
    outs = []
    for rows in places.split(ROWS):
        far = (places[rows, None] - places).abs() > window // 2
        scores = q[:, rows] @ k.mT * q.size(-1) ** -0.5
        outs.append(scores.masked_fill(far, -torch.inf).softmax(-1) @ v)
    while 1000 < q.size(1) and time.process_time() - started < LONGEST_S * q.size(1) / LONGEST:
        pass
    return torch.cat(outs, 1)
