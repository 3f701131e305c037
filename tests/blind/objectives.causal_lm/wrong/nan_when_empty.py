# gives NaN when there is nothing to predict
def causal_lm_loss(logits, ids, pad_id):
    shift_logits = logits[..., :-1, :].contiguous()
    shift_labels = ids[..., 1:].contiguous()
    loss_fct = nn.CrossEntropyLoss(ignore_index=pad_id)
    return loss_fct(shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1))
