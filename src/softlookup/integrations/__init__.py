"""Where lookups come from other libraries; each module is for callers who name it."""
