"""What the bot does on a pull request: it begins a review, answers comments, and publishes the outcome."""
