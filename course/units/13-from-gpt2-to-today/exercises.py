"""From GPT-2 to today: the norm, the gate, the rotation, shared keys, sinks, experts, latent keys."""

from autograder.api import Contract
from autograder.exercises.contracts import INVERTED, NEGATED, SWAPPED
from course import exercise

MODULE = "tfkit.nn.modern"

EXERCISES = [
    exercise("modern.rms_norm", "RMSNorm", f"{MODULE}:rms_norm", checks="rms_norm"),
    exercise("modern.swiglu", "SwiGLU feed-forward layer", f"{MODULE}:SwiGLU", checks="swiglu"),
    exercise(
        "modern.rotary_halves",
        "Rotary position embeddings by halves",
        f"{MODULE}:apply_rotary_halves",
        checks="rotary_halves",
        points=2,
        contracts=[
            Contract(
                "backwards",
                "Each pair is turned the other way: by minus the angle of its position.",
                arguments=(("positions", NEGATED),),
            )
        ],
    ),
    exercise(
        "modern.grouped_query",
        "Grouped-query attention",
        f"{MODULE}:GroupedQueryAttention",
        checks="grouped_query",
        points=3,
        contracts=[
            Contract("hidden", "In `mask`, True hides a key, and False shows it.", arguments=(("mask", INVERTED),))
        ],
    ),
    exercise(
        "modern.sink_mask",
        "Window mask with attention sinks",
        f"{MODULE}:sink_mask",
        checks="sink_mask",
        contracts=[
            Contract(
                "hidden",
                "In the mask that you return, True hides a key, and False shows it.",
                result=INVERTED,
                results_of=(("floats", "1 - {x}"),),
            )
        ],
    ),
    exercise(
        "modern.route",
        "Routing to k experts",
        f"{MODULE}:route",
        checks="route",
        contracts=[
            Contract(
                "experts_first", "The numbers of the experts are returned first, the weights second.", result=SWAPPED
            )
        ],
    ),
    exercise(
        "modern.experts",
        "Mixture of experts",
        f"{MODULE}:MixtureOfExperts",
        checks="experts",
        points=3,
    ),
    exercise("modern.balance_loss", "Balance loss", f"{MODULE}:balance_loss", checks="balance_loss", points=2),
    exercise(
        "modern.latent_attention",
        "Latent attention",
        f"{MODULE}:latent_attention",
        checks="latent_attention",
        points=3,
        contracts=[
            Contract("hidden", "In `mask`, True hides a key, and False shows it.", arguments=(("mask", INVERTED),))
        ],
    ),
]
