"""What every verb shares at a terminal: colour, results on stdout, problems and progress on stderr."""
