"""Ways to compute a lookup, one file each, with the same few names; `registry` chooses."""
