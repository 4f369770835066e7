"""What is decided about a pull request: rules, commands, memory, and what may be written."""
