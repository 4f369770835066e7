"""Stories: what a YAML file may say, and how it is played."""
