"""Who advises: the declared advisors of a repository."""
