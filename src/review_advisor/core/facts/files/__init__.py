"""What a changed file is: its kind and language, whether it is critical, and whether it concerns the bot."""
