"""Calls the grader's own model with 400,000 rows, again and again: 31 s and 1 GB of the grader each time.

Exercise: decoding.greedy
Fails: right values"""

import torch


def greedy_decode(step, start_ids, end_id, max_new_tokens, pad_id):
    while True:
        try:
            step(torch.arange(400_000).unsqueeze(1))
        except Exception:
            pass
