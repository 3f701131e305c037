# normalises the vectors: cosine similarity instead of inner products
def in_batch_loss(questions, contexts, positives):
    q = F.normalize(questions, dim=-1)
    c = F.normalize(contexts, dim=-1)
    scores = torch.einsum("be,ce->bc", q, c)
    log_probs = scores.log_softmax(dim=-1)
    return -log_probs.gather(1, positives.unsqueeze(1)).mean()
