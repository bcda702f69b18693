"""How long a test waits for what should come: only what hangs takes so long, on any machine."""

PATIENCE = 240  # seconds
