"""Golden sets: changes whose faults are known, and how findings are held against them."""
