"""What is looked at again, so that only what a reviewer would say is said."""
