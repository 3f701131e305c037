"""You take the end symbol off the result; it shows where a word ends.

Without it the pieces cannot be put together again: where would the spaces go?"""


def apply_bpe(word, merges):
    symbols = [*word, "</w>"]
    for left, right in merges:
        for i in range(len(symbols)):
            if symbols[i : i + 2] == [left, right]:
                symbols[i : i + 2] = [left + right]
    symbols[-1] = symbols[-1].removesuffix("</w>")
    return [symbol for symbol in symbols if symbol]
