"""What an exercise is, and the answers to it that are known."""
