"""What `core_speed.py` measures, one kind of row a file."""
