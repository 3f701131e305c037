"""`python -m tfkit_course` is the `tfkit` command."""

from tfkit_course.launch import main

main()
