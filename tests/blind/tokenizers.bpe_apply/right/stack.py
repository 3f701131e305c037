# a stack per merge, folded over the merges with reduce
from functools import reduce

def apply_bpe(word, merges):
    def once(symbols, pair):
        a, b = pair
        done = []
        for s in symbols:
            if s == b and done and done[-1] == a:
                done[-1] = a + b      # longer than a, so it cannot be merged again by this pair
            else:
                done.append(s)
        return done

    return reduce(once, merges, [*word, "</w>"])
