import torch

from tfkit.decode import greedy_decode


def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    answers = {}
    for propose in readers:
        ids = greedy_decode(propose, torch.tensor([start_id], device=doc_scores.device), end_id, max_new_tokens, end_id)
        if tuple(ids[0].tolist()) in answers:
            continue
        per_document = []
        for read in readers:
            steps = torch.stack([read(ids[:, :t])[0] for t in range(1, ids.size(1))]).log_softmax(-1)
            per_document.append(steps.gather(-1, ids[0, 1:, None]).sum())
        answers[tuple(ids[0].tolist())] = torch.stack(per_document)
    marginals = {ids: torch.logsumexp(doc_scores.log_softmax(-1) + rows, -1).item() for ids, rows in answers.items()}
    best = max(marginals, key=marginals.get)
    return list(best), marginals[best]
