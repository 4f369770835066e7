"""The work on a pull request: it begins a review, answers commands and publishes the outcome."""
