"""Drawing a word, with the random number as an argument: every right answer gives the same word."""

import torch


def sample_token(logits, u, temperature=1.0):
    """The word on which a uniform draw falls when the words lie side by side, each as wide as its probability.

    logits [B,V], u [B] with 0 <= u < 1, temperature >= 0 -> int64 [B]: the smallest id whose cumulative probability
    under softmax(logits / temperature) exceeds u; at temperature 0 the id of the largest logit. This is inverse
    transform sampling. What has the logit -inf is never drawn.
    """
    if temperature == 0:
        return logits.argmax(dim=-1)
    probs = torch.softmax(logits.double() / temperature, dim=-1)  # [B,V]; sums of many words need the precision
    passed = probs.cumsum(dim=-1) <= u.unsqueeze(-1)  # [B,V]: the words that end to the left of the draw
    return passed.sum(dim=-1)
