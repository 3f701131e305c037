"""Images as tokens, retrieval learned by contrast, and generation from the documents found."""

from course import exercise

EXERCISES = [
    exercise("mmbt.inputs", "Image regions as tokens (MMBT)", "tfkit.nn.multimodal:multimodal_inputs", checks="inputs"),
    exercise(
        "dpr.in_batch_loss",
        "Loss with in-batch negatives (DPR)",
        "tfkit.objectives.in_batch_contrastive:in_batch_loss",
        checks="in_batch_loss",
    ),
    exercise(
        "rag.token",
        "RAG-token marginal",
        "tfkit.objectives.rag_marginals:rag_token_log_probs",
        checks="rag_token",
        points=2,
    ),
    exercise(
        "rag.sequence",
        "RAG-sequence marginal",
        "tfkit.objectives.rag_marginals:rag_sequence_log_probs",
        checks="rag_sequence",
        points=2,
    ),
    exercise(
        "rag.thorough",
        "Thorough decoding (RAG)",
        "tfkit.retrieve.thorough:thorough_decode",
        checks="thorough",
        points=3,
    ),
]
