"""Whether a release may go out: its evidence, the report on it, and the rules that the report is held against."""
