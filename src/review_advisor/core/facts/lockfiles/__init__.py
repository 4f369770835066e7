"""Lock files, read without a model: which packages they name, from where, and what in a change of one is unusual."""
