"""The review: its loop, rulings, events and outcome."""
