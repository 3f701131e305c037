"""From one submission to its verdicts."""
