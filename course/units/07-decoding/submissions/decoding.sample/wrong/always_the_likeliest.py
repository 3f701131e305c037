"""You take the likeliest word whatever the draw is: that is greedy search."""


def sample_token(logits, u, temperature=1.0):
    return logits.argmax(-1)
