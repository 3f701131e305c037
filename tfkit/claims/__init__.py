"""What the papers say, a file for each claim, small enough to be tried at home; see `tfkit.reproduce`."""
