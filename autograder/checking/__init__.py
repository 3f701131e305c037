"""From an answer to its verdict on the student's own machine: processes that wait for a check, and who asks them."""
