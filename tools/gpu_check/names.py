"""What the runners of a race are called, in a record and in the tables made of it."""

PEERS = CUDNN, FLASH, FLEX, ALL_WEIGHTS = "cuDNN", "flash", "FlexAttention", "all weights"
AUTO, ATTEND, FACTS, RECEIVED = "attend, auto", "attend", "facts", "facts and received"
HOPPER, HOPPER_FACTS = "attend, Hopper", "facts, Hopper"
TOP = "top 8"
BLIND, CONTROL, EVERY = "sdpa, unwatched", "the control, facts=None", "every head watched"
