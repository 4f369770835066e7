"""One part of a review played again from its events: their order, advice, judges and repairs."""
