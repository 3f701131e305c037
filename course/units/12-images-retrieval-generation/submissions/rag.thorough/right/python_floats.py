import math

import torch


def log_probs(read, ids):
    return read(torch.tensor([ids]))[0].detach().to(torch.float64).log_softmax(-1)


def greedy(read, ids, end_id, budget):
    while budget > 0:
        ids = [*ids, log_probs(read, ids).argmax().item()]
        budget = 0 if ids[-1] == end_id else budget - 1
    return ids


def log_sum(numbers):
    largest = max(numbers)
    return largest + math.log(sum(math.exp(number - largest) for number in numbers))


def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    priors = doc_scores.detach().to(torch.float64).log_softmax(0).tolist()
    scored = []
    for propose in readers:
        ids = greedy(propose, [start_id], end_id, max_new_tokens)
        by_document = [
            prior + sum(log_probs(read, ids[:t])[ids[t]].item() for t in range(1, len(ids)))
            for prior, read in zip(priors, readers)
        ]
        scored.append((log_sum(by_document), ids))
    best, ids = max(scored, key=lambda one: one[0])
    return ids, best
