"""The end of the process: its signals, its child processes and its temporary folders."""
