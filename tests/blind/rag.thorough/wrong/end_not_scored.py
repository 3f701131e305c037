# leaves the end token's probability out of the score
class _Document:
    def __init__(self, reader, log_weight, end_id):
        self.reader, self.log_weight, self.end_id = reader, log_weight, end_id

    def log_probs(self, ids):
        return torch.log_softmax(self.reader(torch.as_tensor(ids).unsqueeze(0)).squeeze(0), -1)

    def propose(self, start_id, n):
        ids = [start_id]
        for _ in range(n):
            ids = ids + [self.log_probs(ids).argmax().item()]
            if ids[-1] == self.end_id:
                break
        return ids

    def joint(self, ids):
        total = self.log_weight
        for t in range(1, len(ids)):
            if ids[t] != self.end_id:
                total = total + self.log_probs(ids[:t])[ids[t]]
        return total


def thorough_decode(readers, doc_scores, start_id, end_id, max_new_tokens):
    weights = torch.log_softmax(doc_scores, 0)
    docs = [_Document(r, w, end_id) for r, w in zip(readers, weights)]
    proposals = [d.propose(start_id, max_new_tokens) for d in docs]
    scores = [torch.stack([d.joint(y) for d in docs]).logsumexp(0).item() for y in proposals]
    best = max(range(len(scores)), key=scores.__getitem__)
    return proposals[best], scores[best]
