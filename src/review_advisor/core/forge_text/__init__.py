"""What is written on a pull request: every text for the forge, as safe Markdown."""
