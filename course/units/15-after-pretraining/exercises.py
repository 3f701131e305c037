"""After pretraining: adapters, imitation, preferences, and rewards that can be checked."""

from course import exercise

EXERCISES = [
    exercise(
        "tuning.lora", "A layer that learns beside a frozen one", "tfkit.nn.lora:LoRALinear", checks="lora", points=3
    ),
    exercise(
        "tuning.chat_labels", "Whose words are learned?", "tfkit.objectives.tuning:chat_labels", checks="chat_labels"
    ),
    exercise(
        "tuning.sequence_log_probs",
        "How likely is a whole answer?",
        "tfkit.objectives.tuning:sequence_log_probs",
        checks="sequence_log_probs",
        points=2,
    ),
    exercise(
        "tuning.reward_loss", "A score out of choices", "tfkit.objectives.tuning:reward_loss", checks="reward_loss"
    ),
    exercise(
        "tuning.dpo", "Preferences without a reward model", "tfkit.objectives.tuning:dpo_loss", checks="dpo", points=2
    ),
    exercise(
        "tuning.group_advantages",
        "Better than the others",
        "tfkit.objectives.tuning:group_advantages",
        checks="group_advantages",
    ),
    exercise(
        "tuning.policy_loss",
        "A step that may not go too far",
        "tfkit.objectives.tuning:clipped_policy_loss",
        checks="policy_loss",
        points=3,
    ),
    exercise("tuning.kl", "How far from where we started?", "tfkit.objectives.tuning:kl_estimate", checks="kl"),
]
