"""MockWorld: a simulated world for stories, demonstrations and tests."""
