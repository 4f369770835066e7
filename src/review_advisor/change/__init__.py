"""What is under review: git, patches, paths, parts, lock files, pictures."""
