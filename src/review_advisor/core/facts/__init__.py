"""What is under review: the Change, its kinds of files, and its text cut into parts that fit one call."""
