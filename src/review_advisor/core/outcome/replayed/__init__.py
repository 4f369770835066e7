"""What a replay is made of: the order of events, advice, judges and repairs."""
