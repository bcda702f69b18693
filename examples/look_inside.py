"""Look into one row: the same lookup gives the answer, the weights and every step."""

import numpy as np

import softlookup as sl

tokens = ["the", "river", "bank", "closed"]
query = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 2.0], [2.0, 0.0]])
key = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 1.0]])
value = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])

look = sl.Lookup(query, key, value, causal=True)

print(look.attend()[2].round(3))  # prints: [0.38  0.926]
print(look.weights(rows=[2]).round(3))  # prints: [[0.074 0.62  0.306 0.   ]]
print(look.trace(rows=[2], tokens=tokens))  # every step of it, as text
