"""What keeps secrets, and the words of others, from doing harm in a text."""
