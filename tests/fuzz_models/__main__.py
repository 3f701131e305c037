"""Random configurations against transformers, live: `make fuzz-models [ARCH="bert t5"] [SEED=0] [CASES=20]`.

CASES is for each architecture, the seeds are SEED, SEED + 1, …; a case is repeated by its architecture and seed with
CASES=1. Exit code 1 if a case differs, or crashes, in a way that `known.py` does not list.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import torch

from tests.fuzz_models import compare
from tests.fuzz_models.draws import DRAWS
from tests.fuzz_models.inputs import Case, draw
from tests.fuzz_models.known import reason


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make fuzz-models", description=__doc__)
    parser.add_argument("arch", nargs="*", help=f"architectures, by default all: {', '.join(DRAWS)}")
    parser.add_argument("--seed", type=int, default=0, help="of each architecture's first case")
    parser.add_argument("--cases", type=int, default=20, help="of each architecture")
    parser.add_argument("--verbose", action="store_true", help="also show cases that agree or are refused")
    given = parser.parse_args(argv)
    if unknown := sorted(set(given.arch) - DRAWS.keys()):
        parser.error(f"{', '.join(unknown)}: not among {', '.join(DRAWS)}")
    return given


def unknown(case: Case, outcome: compare.Outcome) -> list[str]:
    """What differs in a case without a known reason."""
    if outcome.kind not in (compare.DIFFER, compare.CRASH):
        return []
    return [what for what in outcome.what if reason(case, what) is None]


def main(argv: list[str] | None = None) -> int:
    """Runs the cases, prints those that differ and a summary -> the exit code"""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    given, failed, counts, refusals = arguments(argv), 0, Counter[str](), Counter[str]()
    for arch in given.arch or DRAWS:
        for seed in range(given.seed, given.seed + given.cases):
            case = draw(arch, seed)
            outcome = compare.run(case)
            new = unknown(case, outcome)
            failed += bool(new)
            kind = outcome.kind if new or outcome.kind not in (compare.DIFFER, compare.CRASH) else "known difference"
            counts[kind] += 1
            if outcome.kind in (compare.REFUSED, compare.THEIRS):
                refusals[f"{arch}: {outcome.kind}: {outcome.what[0]}"] += 1
            if new or given.verbose:
                again = f"make fuzz-models ARCH={arch} SEED={seed} CASES=1"
                print(f"{kind}: {case}\n  repeat: {again}", *(f"  {what}" for what in new[:6]), sep="\n", flush=True)
    for refusal, count in refusals.most_common(40 if given.verbose else 12):
        print(f"{count:5} x {refusal}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
