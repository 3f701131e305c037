"""tfkit: the transformer zoo in files short enough to read. Importing it is cheap; torch is loaded on first use."""
