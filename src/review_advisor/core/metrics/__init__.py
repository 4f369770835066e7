"""What reviews are measured by: metrics, traces, KPIs and prices."""
