"""Which number a pull request can have. Apart from everything else, because the command line names it, too."""

LARGEST_PULL_REQUEST = 2**31
