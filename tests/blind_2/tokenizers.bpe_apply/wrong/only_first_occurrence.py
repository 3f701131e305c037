# each merge joins only its first occurrence in the word
def apply_bpe(word, merges):
    s = list(word)
    s.append("</w>")
    for left, right in merges:
        for k in range(len(s) - 1):
            if s[k] == left and s[k + 1] == right:
                s = s[:k] + [left + right] + s[k + 2:]
                break
    return s
