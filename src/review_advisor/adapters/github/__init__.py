"""One repository on GitHub. Nothing else imports PyGithub, and this package is imported only where it is needed."""
