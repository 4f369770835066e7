"""The work on a pull request: begin, publish, commands, memory, texts, and the one client."""
