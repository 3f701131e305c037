"""Your targets go on with the end of the text after the final sentinel.

What stands in the input need not be written again. Hugging Face's retelling of T5's objective writes such a "." again, which its inputs have already."""


def span_corruption(tokens, spans, sentinels):
    inputs, targets, past = [], [], 0
    for (start, end), sentinel in zip(spans, sentinels):
        inputs += [*tokens[past:start], sentinel]
        targets += [sentinel, *tokens[start:end]]
        past = end
    return [*inputs, *tokens[past:]], [*targets, sentinels[len(spans)], *tokens[past:][-1:]]
