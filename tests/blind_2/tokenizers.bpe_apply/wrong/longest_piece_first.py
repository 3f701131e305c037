# cuts off the longest known piece from the left instead of replaying the merges in order
def apply_bpe(word, merges):
    pieces = {a + b for a, b in merges}
    text = list(word) + ["</w>"]
    result = []
    i = 0
    while i < len(text):
        j = len(text)
        while j > i + 1 and "".join(text[i:j]) not in pieces:
            j -= 1
        result.append("".join(text[i:j]))
        i = j
    return result
