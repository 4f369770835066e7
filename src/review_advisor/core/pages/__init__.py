"""What the dashboard's pages show, as plain values."""
