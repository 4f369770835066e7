"""``claude -p``, and whatever else speaks its contract."""
