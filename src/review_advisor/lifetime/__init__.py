"""What this process must not leave behind, its children and its temporary folders, and how it is told to end."""
