# merges with str.replace on "a b c", which also joins the end of one symbol with the beginning of the next one
import collections


def get_stats(vocab):
    pairs = collections.defaultdict(int)
    for word, freq in vocab.items():
        symbols = word.split(" ")
        for i in range(len(symbols) - 1):
            pairs[symbols[i], symbols[i + 1]] += freq
    return pairs


def merge_vocab(pair, v_in):
    return {w.replace(" ".join(pair), "".join(pair)): n for w, n in v_in.items()}


def learn_bpe(word_counts, num_merges):
    if not hasattr(word_counts, "items"):
        raise TypeError("word_counts has to map words to counts")
    if num_merges < 0:
        raise ValueError("negative num_merges")
    vocab = {" ".join(list(w) + ["</w>"]): n for w, n in word_counts.items()}
    merges = []
    while len(merges) < num_merges:
        stats = get_stats(vocab)
        if not stats:
            break
        best = min(stats, key=lambda p: (-stats[p], p))
        vocab = merge_vocab(best, vocab)
        merges.append(best)
    return merges
