"""MockWorld: a simulated world to review in. A product feature: stories, demonstrations and tests use it."""
