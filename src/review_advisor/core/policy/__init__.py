"""What is decided before any money is spent: surfaces, switches, guard, trigger, blast radius, budgets."""
