"""`python -m tfkit_course` is the `tfkit` command."""

from tfkit_course import main

main()
