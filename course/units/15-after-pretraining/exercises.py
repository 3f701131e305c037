"""After pretraining: adapters, imitation, preferences, and rewards that can be checked."""

from autograder.api import Contract
from autograder.exercises.contracts import INVERTED, NEGATED, SWAPPED
from course import exercise

EXERCISES = [
    exercise("tuning.lora", "Linear layer with LoRA", "tfkit.nn.lora:LoRALinear", checks="lora", points=3),
    exercise(
        "tuning.chat_labels",
        "Labels for a conversation",
        "tfkit.objectives.tuning:chat_labels",
        checks="chat_labels",
        contracts=[Contract("labels_first", "The labels are returned first, the ids second.", result=SWAPPED)],
    ),
    exercise(
        "tuning.sequence_log_probs",
        "Log-probability of an answer",
        "tfkit.objectives.tuning:sequence_log_probs",
        checks="sequence_log_probs",
        points=2,
        contracts=[
            Contract(
                "negative", "What you return is to be minimised: the negative of the log-probability.", result=NEGATED
            )
        ],
    ),
    exercise("tuning.reward_loss", "Reward-model loss", "tfkit.objectives.tuning:reward_loss", checks="reward_loss"),
    exercise("tuning.dpo", "DPO loss", "tfkit.objectives.tuning:dpo_loss", checks="dpo", points=2),
    exercise(
        "tuning.group_advantages",
        "Advantages within a group (GRPO)",
        "tfkit.objectives.tuning:group_advantages",
        checks="group_advantages",
    ),
    exercise(
        "tuning.policy_loss",
        "Clipped policy loss (PPO)",
        "tfkit.objectives.tuning:clipped_policy_loss",
        checks="policy_loss",
        points=3,
        contracts=[
            Contract("hidden", "In `mask`, True marks the tokens that do not count.", arguments=(("mask", INVERTED),))
        ],
    ),
    exercise(
        "tuning.kl",
        "KL divergence estimate",
        "tfkit.objectives.tuning:kl_estimate",
        checks="kl",
        contracts=[
            Contract("hidden", "In `mask`, True marks the tokens that do not count.", arguments=(("mask", INVERTED),))
        ],
    ),
]
