"""The composition roots of what is read from pull requests and written on them."""
