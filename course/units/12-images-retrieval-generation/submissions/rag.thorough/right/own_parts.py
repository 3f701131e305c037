import torch


def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    found = []
    for propose in readers:
        ids = [start_id]
        while len(ids) <= max_new_tokens and (len(ids) == 1 or ids[-1] != end_id):
            ids.append(propose(torch.tensor([ids], device=doc_scores.device)).argmax(-1).item())
        logits = [
            [read(torch.tensor([ids[:t]], device=doc_scores.device))[0] for t in range(1, len(ids))] for read in readers
        ]
        logits = torch.stack([torch.stack(row) for row in logits])
        log_prob = rag_sequence_log_probs(
            logits[None], doc_scores[None], torch.tensor([ids[1:]], device=doc_scores.device)
        )
        found.append((ids, log_prob.item()))
    return max(found, key=lambda one: one[1])


def rag_sequence_log_probs(token_logits, doc_scores, targets):
    log_probs = torch.log_softmax(token_logits, -1).gather(
        -1, targets[:, None, :, None].expand(-1, token_logits.size(1), -1, 1)
    )
    return torch.logsumexp(torch.log_softmax(doc_scores, -1) + log_probs.squeeze(-1).sum(-1), -1)
