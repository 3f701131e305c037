# scores are cosines, not inner products
def in_batch_loss(questions, contexts, positives):
    q = F.normalize(questions, dim=-1)
    c = F.normalize(contexts, dim=-1)
    logp = torch.einsum("be,ce->bc", q, c).log_softmax(dim=1)
    return -logp[torch.arange(q.shape[0]), positives].mean()
