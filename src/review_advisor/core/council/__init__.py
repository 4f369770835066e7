"""The council: the votes of several advisors, and what they come to."""
