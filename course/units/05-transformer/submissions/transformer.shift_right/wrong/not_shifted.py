"""You feed the decoder the very words it is to predict, unshifted.

At position t the answer is then the input; the model learns to copy."""


def shift_right(ids, start_id):
    return ids.clone()
