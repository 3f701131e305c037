"""From GPT-2 to today: the norm, the gate, the rotation, shared keys, sinks, experts, latent keys."""

from course import exercise

MODULE = "tfkit.nn.modern"

EXERCISES = [
    exercise("modern.rms_norm", "A norm without a mean", f"{MODULE}:rms_norm", checks="rms_norm"),
    exercise("modern.swiglu", "A gate in the feed-forward layer", f"{MODULE}:SwiGLU", checks="swiglu"),
    exercise(
        "modern.rotary_halves",
        "Turn halves, not neighbours",
        f"{MODULE}:apply_rotary_halves",
        checks="rotary_halves",
        points=2,
    ),
    exercise(
        "modern.grouped_query",
        "Share keys and values",
        f"{MODULE}:GroupedQueryAttention",
        checks="grouped_query",
        points=3,
    ),
    exercise("modern.sink_mask", "Keep the first tokens in sight", f"{MODULE}:sink_mask", checks="sink_mask"),
    exercise("modern.route", "Choose k experts", f"{MODULE}:route", checks="route"),
    exercise(
        "modern.experts",
        "A mixture of experts",
        f"{MODULE}:MixtureOfExperts",
        checks="experts",
        points=3,
    ),
    exercise("modern.balance_loss", "Keep them all busy", f"{MODULE}:balance_loss", checks="balance_loss", points=2),
    exercise(
        "modern.latent_attention",
        "Cache one small vector",
        f"{MODULE}:latent_attention",
        checks="latent_attention",
        points=3,
    ),
]
