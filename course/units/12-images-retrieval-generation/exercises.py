"""Pictures among words, finding by contrast, and writing from what was found."""

from course import exercise

EXERCISES = [
    exercise("mmbt.inputs", "A picture among words", "tfkit.nn.multimodal:multimodal_inputs", checks="inputs"),
    exercise(
        "dpr.in_batch_loss",
        "Others' answers are the wrong ones",
        "tfkit.objectives.in_batch_contrastive:in_batch_loss",
        checks="in_batch_loss",
    ),
    exercise(
        "rag.token",
        "Any document, at every token",
        "tfkit.objectives.rag_marginals:rag_token_log_probs",
        checks="rag_token",
        points=2,
    ),
    exercise(
        "rag.sequence",
        "One document for the whole sequence",
        "tfkit.objectives.rag_marginals:rag_sequence_log_probs",
        checks="rag_sequence",
        points=2,
    ),
    exercise(
        "rag.thorough",
        "Each document proposes, all of them judge",
        "tfkit.retrieve.thorough:thorough_decode",
        checks="thorough",
        points=3,
    ),
]
