"""What a review leaves on disk."""
