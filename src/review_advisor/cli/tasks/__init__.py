"""The verbs in which an executor does a task with its advisor: one file per verb."""
