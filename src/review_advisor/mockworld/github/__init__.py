"""MockWorld's GitHub: one model in memory. The Forge port is one door to it, an HTTP server in the tests the other."""
