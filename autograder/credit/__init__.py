"""What a wrong answer keeps: the points by its distance to a right one, and the evidence for that distance."""
