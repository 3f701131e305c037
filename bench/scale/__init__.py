"""How large a class one grader can serve: measured service times, a simulated term, and a real run.

`python -m bench.scale` simulates with the times in `docs/scale.json`, and writes docs/scale.md and its figure;
`--measure` measures the times here first; `--real N` grades N real submissions in one run and records its memory.
"""
