"""Looking inside: what each layer would predict, what happens when a part is replaced, and which head does what."""

from course import exercise

EXERCISES = [
    exercise("inside.logit_lens", "Logit lens", "tfkit.inside.by_hand:logit_lens", checks="logit_lens"),
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
    ),
]
