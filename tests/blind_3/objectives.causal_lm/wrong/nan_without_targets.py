# gives NaN instead of 0 if no token is predicted
def causal_lm_loss(logits, ids, pad_id):
    pred = logits[:, :-1].transpose(1, 2)      # [B,V,L-1] for cross_entropy
    return F.cross_entropy(pred, ids[:, 1:], ignore_index=pad_id)
