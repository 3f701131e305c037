"""Asks the grader's own model for one prefix of 40 million ids: 8.6 s and 2.3 GB of the grader.

Exercise: decoding.greedy
Fails: right values"""

import torch


def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    step(torch.zeros(1, 40_000_000, dtype=torch.int64))
    return start_ids.unsqueeze(1)
