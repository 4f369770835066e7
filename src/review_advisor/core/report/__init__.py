"""What a person reads of a review in a terminal or a file."""
