from itertools import chain


def span_corruption(tokens, spans, sentinels):
    edges = [0, *chain.from_iterable(spans), len(tokens)]
    clean = [tokens[a:b] for a, b in zip(edges[::2], edges[1::2])]
    noise = [tokens[a:b] for a, b in spans]
    marks = [[s] for s in sentinels[: len(spans)]]
    inputs = list(
        chain.from_iterable(clean[i // 2] if i % 2 == 0 else marks[i // 2] for i in range(2 * len(spans) + 1))
    )
    targets = [token for mark, words in zip(marks, noise) for token in mark + words]
    targets.append(sentinels[len(spans)])
    return inputs, targets
