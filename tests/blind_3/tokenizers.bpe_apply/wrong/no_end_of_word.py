# forgets to append </w> to the characters of the word
def apply_bpe(word, merges):
    s = [c for c in word]
    for pair in merges:
        i = 0
        new = []
        while i < len(s):
            if tuple(s[i:i + 2]) == tuple(pair):
                new.append("".join(pair))
                i += 2
            else:
                new.append(s[i])
                i += 1
        s = new
    return s
