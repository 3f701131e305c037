"""In your targets a sentinel comes after the words that it stands for.

The decoder writes from left to right: first the question, then the answer."""


def span_corruption(tokens, spans, sentinels):
    inputs, targets, past = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels):
        inputs += [*tokens[past:start], sentinel]
        targets += [*tokens[start:end], sentinel]
        past = end
    return [*inputs, *tokens[past:]], [*targets, sentinels[len(spans)]]
