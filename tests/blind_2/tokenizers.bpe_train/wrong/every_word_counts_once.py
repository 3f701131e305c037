# the counts of the words are ignored: each different word counts once
import collections


def learn_bpe(word_counts, num_merges):
    if not isinstance(word_counts, dict):
        raise TypeError("not a dict")
    if num_merges < 0:
        raise ValueError("negative")
    vocab = [[*word, "</w>"] for word in word_counts]
    out = []
    for step in range(num_merges):
        c = collections.Counter((a, b) for s in vocab for a, b in zip(s[:-1], s[1:]))
        if not c:
            return out
        top = max(c.values())
        a, b = min(p for p in c if c[p] == top)
        out.append((a, b))
        new_vocab = []
        for s in vocab:
            t, i = [], 0
            while i < len(s):
                if s[i : i + 2] == [a, b]:
                    t.append(a + b)
                    i += 2
                else:
                    t.append(s[i])
                    i += 1
            new_vocab.append(t)
        vocab = new_vocab
    return out
