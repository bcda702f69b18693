"""What `tools/gpu_check.sh` runs: every GPU kernel, checked on fresh inputs, timed beside peers."""
