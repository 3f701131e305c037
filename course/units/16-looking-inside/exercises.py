"""Looking inside: what each layer would say, what happens when a part is replaced, and which head does what."""

from course import exercise

EXERCISES = [
    exercise("inside.logit_lens", "What would each layer say?", "tfkit.inside.by_hand:logit_lens", checks="logit_lens"),
    exercise(
        "inside.patch",
        "Replace one part and watch",
        "tfkit.inside.by_hand:run_patched",
        checks="patch",
        points=3,
    ),
    exercise(
        "inside.head_contributions",
        "What each head adds",
        "tfkit.inside.by_hand:head_contributions",
        checks="head_contributions",
        points=2,
    ),
    exercise(
        "inside.induction",
        "Heads that look for what came next",
        "tfkit.inside.by_hand:induction_scores",
        checks="induction",
        points=2,
    ),
    exercise(
        "inside.attribution",
        "Who pushed this word?",
        "tfkit.inside.by_hand:direct_attribution",
        checks="attribution",
    ),
]
