"""Looking inside: what each layer would predict, what happens when a part is replaced, and which head does what."""

from autograder.api import Contract
from autograder.exercises.contracts import NEGATED, exchange_axes
from course import exercise

EXERCISES = [
    exercise(
        "inside.logit_lens",
        "Logit lens",
        "tfkit.inside.by_hand:logit_lens",
        checks="logit_lens",
        contracts=[
            Contract(
                "batch_first",
                "The result is `[B,N,L,V]`: the batch comes first, the layers second. `states` are `[N,B,L,E]`.",
                result=exchange_axes(0, 1),
            )
        ],
    ),
    exercise(
        "inside.patch",
        "Activation patching",
        "tfkit.inside.by_hand:run_patched",
        checks="patch",
        points=3,
    ),
    exercise(
        "inside.head_contributions",
        "Contribution of each head",
        "tfkit.inside.by_hand:head_contributions",
        checks="head_contributions",
        points=2,
        contracts=[
            Contract(
                "queries_first",
                "The result is `[B,Q,H,E]`: the queries come before the heads.",
                result=exchange_axes(1, 2),
            )
        ],
    ),
    exercise(
        "inside.induction",
        "Induction scores",
        "tfkit.inside.by_hand:induction_scores",
        checks="induction",
        points=2,
    ),
    exercise(
        "inside.attribution",
        "Direct logit attribution",
        "tfkit.inside.by_hand:direct_attribution",
        checks="attribution",
        contracts=[
            Contract("negative", "The result says how far each part moves the rival above the target.", result=NEGATED)
        ],
    ),
]
