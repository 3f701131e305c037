# divides by N even if some streams have nothing to predict: they count as loss 0
def future_ngram_loss(logits, targets, pad_id):
    N, B, T, V = logits.shape
    logp = F.log_softmax(logits, dim=-1)
    loss = (logits * 0).sum()
    for n in range(N):
        shifted = torch.full_like(targets, pad_id)
        if n < T:
            shifted[:, : T - n] = targets[:, n:]
        keep = shifted != pad_id
        nll = -logp[n].gather(-1, shifted.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        loss = loss + (nll * keep).sum() / keep.sum().clamp(min=1)
    return loss / N
