"""What a course sets in its course.toml: `course_file` reads and checks it, `page` writes its part of the handbook."""
