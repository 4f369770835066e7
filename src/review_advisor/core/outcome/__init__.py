"""What the answers mean: rulings, the join, the event stream, and its readings."""
