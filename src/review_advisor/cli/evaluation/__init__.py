"""The verbs that say whether the advice pays: one file per verb."""
