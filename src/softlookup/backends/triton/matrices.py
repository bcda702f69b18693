"""Arrays as matrices of rows, as the Hopper kernel reads them; imports nothing heavy.

A batch entry adds rows, a head adds rows or columns, so that (batch, heads, length, dim) and
(batch, length, heads, dim) in memory are both read in place.
"""

from typing import Any, NamedTuple

_ALIGNED = 16  # bytes; TMA's


class Matrix(NamedTuple):
    """An array as a matrix: its shape, the step of its rows, what a batch entry and a head add."""

    rows: int
    columns: int
    step: int
    batch_rows: int
    head_rows: int
    head_columns: int


def as_matrix(shape: tuple[int, ...], strides: tuple[int, ...]) -> Matrix | None:
    """Return how an array (batch, heads, length, dim) lies as a matrix, or None if it does not.

    `strides` are in elements.

    Examples
    --------
    Three heads of 64 numbers, side by side in each of 5 rows of 2 batch entries:

    >>> as_matrix((2, 3, 5, 64), (960, 64, 192, 1))
    Matrix(rows=10, columns=192, step=192, batch_rows=5, head_rows=0, head_columns=64)
    """
    batch, heads, length, dim = shape
    each_batch, each_head, step, one = strides
    if one != 1 or step < dim:
        return None
    batch_rows, odd = divmod(each_batch, step) if batch > 1 else (0, 0)
    head_rows, head_columns = divmod(each_head, step) if heads > 1 else (0, 0)
    columns = (heads - 1) * head_columns + dim
    if odd or batch_rows < 0 or head_rows < 0 or columns > step:
        return None
    rows = (batch - 1) * batch_rows + (heads - 1) * head_rows + length
    return Matrix(rows, columns, step, batch_rows, head_rows, head_columns)


def matrix_of(tensor: Any) -> Matrix | None:
    """Return a tensor as a matrix whose rows begin where TMA reads, every 16 bytes, or None."""
    matrix = as_matrix(tuple(tensor.shape), tuple(tensor.stride()))
    if matrix is None or tensor.data_ptr() % _ALIGNED:
        return None
    steps = (matrix.step, matrix.head_columns)
    return None if any(step * tensor.element_size() % _ALIGNED for step in steps) else matrix
