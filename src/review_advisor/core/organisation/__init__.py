"""Many repositories, one picture: whose artifacts count, and teams and author groups."""
