"""Solve an exercise from what it shows, in floats and on its own: nothing of the lesson is used.

Every solver returns the right answers, the slips as full rows of answers, and for each answer how
far the shown numbers let an honest calculation fall from it, half a unit of the answer included.
"""

import json
import math
import re

HALF = 0.0005


def solve(exercise):
    given = {part["label"]: part["value"] for part in exercise["given"]}
    token = int(re.search(r"oken (\d)", exercise["question"])[1]) - 1
    return {"scores": _scores, "softmax": _softmax, "output": _output}[exercise["skill"]](
        given, token
    )


def _dot(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True))


def _best(numbers):
    return numbers.index(max(numbers))


def _columns(rows):
    return [list(column) for column in zip(*rows, strict=True)]


def _scores(given, token):
    queries = json.loads(given["Q, one query a row"])
    keys = json.loads(given["K, one key a row"])
    size = int(given["d_k"])
    text = given[f"√{size}"]
    assert float(text) == round(math.sqrt(size), 3)
    root = math.sqrt(size)
    blur = HALF if "." in text else 0.0
    products = [_dot(queries[token], key) for key in keys]
    right = [product / root for product in products]
    slips = [
        ("forgot_scale", products),
        ("multiplied_by_scale", [product * root for product in products]),
        ("divided_by_d_k", [product / size for product in products]),
        ("transposed_k", [_dot(queries[token], column) / root for column in _columns(keys)]),
    ]
    slips += [
        ("another_row", [_dot(query, key) / root for key in keys])
        for other, query in enumerate(queries)
        if other != token
    ]
    reach = []
    for product, exact in zip(products, right, strict=True):
        ends = [product / (float(text) + blur), product / (float(text) - blur)]
        reach.append((min(ends) - HALF - exact, max(ends) + HALF - exact))
    return right, slips, reach


def _softmax(given, token):
    scores = json.loads(given["scaled scores, one token a row"])
    own = json.loads(given[f"row of token {token + 1}"])
    assert own == scores[token]
    right = _softmax_row([math.exp(x) for x in own])
    exps, weights = right[:3], right[4:]
    shifted = [math.exp(x - max(own)) for x in own]
    slips = [
        ("forgot_exp", _softmax_row(own)),
        ("not_normalised", [*exps, sum(exps), *exps]),
        ("shifted", [*shifted, sum(shifted), *weights]),
        ("hard_lookup", [*exps, sum(exps), *(float(i == _best(own)) for i in range(3))]),
    ]
    slips += [
        ("another_row", _softmax_row([math.exp(x) for x in row]))
        for other, row in enumerate(scores)
        if other != token
    ]
    shown = [round(x, 3) for x in exps]
    low, high = [x - HALF for x in shown], [x + HALF for x in shown]
    total = round(sum(exps), 3)
    reach = [(-HALF, HALF)] * 3
    reach.append((sum(low) - HALF - sum(exps), sum(high) + HALF - sum(exps)))
    reach += [
        (a / (total + HALF) - HALF - w, b / (total - HALF) + HALF - w)
        for a, b, w in zip(low, high, weights, strict=True)
    ]
    return right, slips, reach


def _softmax_row(terms):
    return [*terms, sum(terms), *(term / sum(terms) for term in terms)]


def _output(given, token):
    weights = [json.loads(given[f"weights of token {i + 1}"]) for i in range(3)]
    keys, values = (json.loads(given[name]) for name in ("K, one key a row", "V, one value a row"))
    for row in weights:
        assert abs(sum(row) - 1) < 1e-9
    right = [_dot(weights[token], column) for column in _columns(values)]
    slips = [
        ("blended_keys", [_dot(weights[token], column) for column in _columns(keys)]),
        ("not_weighted", [sum(column) for column in _columns(values)]),
        ("hard_lookup", values[_best(weights[token])]),
    ]
    slips += [
        ("another_row", [_dot(row, column) for column in _columns(values)])
        for other, row in enumerate(weights)
        if other != token
    ]
    spread = [HALF * sum(map(abs, column)) + HALF for column in _columns(values)]
    return right, slips, [(-reach, reach) for reach in spread]


def typed(numbers):
    return [f"{number:.3f}" for number in numbers]
