"""A task: the protocol of an executor and its advisor, its blocks, its prompts, and what is stored of a run."""
