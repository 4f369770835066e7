"""Whether the advice pays: recorded reviews, counted against what people found."""
