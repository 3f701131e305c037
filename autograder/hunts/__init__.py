"""Bug hunts: code with known faults and a symptom; the student names lines, writes a test and repairs the code."""
