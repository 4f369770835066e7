"""What a branch has brought: after a merge, or since a release."""
