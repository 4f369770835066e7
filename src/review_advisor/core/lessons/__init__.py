"""What people approved for the memory of a repository: its records, its file, and how prompts show it."""
