"""One file per architecture, named after it; `tfkit.registry` finds them."""
