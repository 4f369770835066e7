"""What the verbs of evaluation do: one module per verb."""
