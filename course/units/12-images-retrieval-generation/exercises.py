"""Images as tokens, retrieval learned by contrast, and generation from the documents found."""

from course import exercise

EXERCISES = [
    exercise("mmbt.inputs", "Image regions as tokens", "tfkit.nn.multimodal:multimodal_inputs", checks="inputs"),
    exercise(
        "dpr.in_batch_loss",
        "The loss with in-batch negatives",
        "tfkit.objectives.in_batch_contrastive:in_batch_loss",
        checks="in_batch_loss",
    ),
    exercise(
        "rag.token",
        "The RAG-token marginal",
        "tfkit.objectives.rag_marginals:rag_token_log_probs",
        checks="rag_token",
        points=2,
    ),
    exercise(
        "rag.sequence",
        "The RAG-sequence marginal",
        "tfkit.objectives.rag_marginals:rag_sequence_log_probs",
        checks="rag_sequence",
        points=2,
    ),
    exercise(
        "rag.thorough",
        "Thorough decoding",
        "tfkit.retrieve.thorough:thorough_decode",
        checks="thorough",
        points=3,
    ),
]
