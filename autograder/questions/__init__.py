"""Questions about a student's own right answer, whose keys come from running that answer in a box."""
