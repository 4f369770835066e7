"""What the reviews of pull requests have cost."""
