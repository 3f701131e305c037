import math

import torch

from tfkit.decode import greedy_decode


def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    start = torch.tensor([start_id], device=doc_scores.device)
    weights = doc_scores.log_softmax(-1)
    best_ids, best_log_prob = [], -math.inf
    for propose in readers:
        ids = greedy_decode(propose, start, end_id, max_new_tokens, end_id)[0].tolist()
        joint = weights.clone()
        for d, read in enumerate(readers):
            for t in range(1, len(ids)):
                log_probs = read(torch.tensor([ids[:t]], device=doc_scores.device))[0].log_softmax(-1)
                joint[d] += log_probs[ids[t]]
        log_prob = joint.logsumexp(-1).item()
        if log_prob > best_log_prob:
            best_ids, best_log_prob = ids, log_prob
    return best_ids, best_log_prob
