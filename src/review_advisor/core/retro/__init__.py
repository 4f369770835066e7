"""What is learnt from runs after their end: improvement proposals, which nothing applies by itself."""
