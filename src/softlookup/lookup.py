"""`Lookup`: one lookup to look into, the front door to everything that can be asked of it."""

from collections.abc import Callable
from typing import Any

from softlookup.arrays import Array
from softlookup.attending import answer
from softlookup.backends import registry
from softlookup.facts import NO_FACTS, Facts, build_facts, too_many
from softlookup.gradients import Gradients, check_lse_grad, check_out_grad, restore
from softlookup.inputs import Inputs
from softlookup.inspection import Inspection, as_tensors, build_inspection
from softlookup.options import check_flag, names_checked
from softlookup.problem import pick, too_large
from softlookup.tensors import tensor_of
from softlookup.tracing import Trace, trace_rows
from softlookup.weightmap import LIMIT, POOLS, WeightMap, check_buildable


class Lookup(Inputs):
    """One lookup, to look into; nothing is computed until it is asked.

    ``out[i] = sum_j weights[i, j] * value[j]`` where row i of ``weights`` is the softmax of
    ``scores[i] = softcap * tanh(scale * query[i] @ key.T / softcap) + bias[i]`` over the keys that
    query i may see.

    Parameters
    ----------
    query : ndarray of shape (..., heads, q_len, head_dim) or (q_len, head_dim)
        float16, bfloat16 (`ml_dtypes.bfloat16`), float32 or float64; integers and lists become
        float64. Query, key and value share one dtype. torch tensors are read where they lie.
    key : ndarray of shape (..., kv_heads, kv_len, head_dim)
        kv_heads divides heads: query head h uses kv head ``h // (heads // kv_heads)``.
    value : ndarray of shape (..., kv_heads, kv_len, value_dim), optional
        May be left out where only weights, traces or facts are wanted.
    causal : bool, default False
        Query i sees key j only when ``j <= i + q_offset``.
    q_offset : int or integers of the batch's shape, optional
        Position of query 0; default 0 where q_len equals kv_len. With unequal lengths and `causal`
        or `window` it must be given: 0 is top-left (torch, JAX, Keras), ``kv_len - q_len``
        bottom-right (FlashAttention, MLX).
    window : (left, right), optional
        Sees keys ``i + q_offset - left ... i + q_offset + right``, both inclusive; None leaves a
        side open.
    mask : ndarray of bool, optional
        True = may look. Broadcast, right-aligned, to (..., heads, q_len, kv_len).
    bias : ndarray of float, optional
        Added to the scores, broadcast like `mask`. -inf hides; every finite number is a number. A
        `CausalBias` of torch's is taken as the rule that it is.
    kv_lens : integers of the batch's shape, optional
        Valid keys per batch entry, 0 ... kv_len; the rest is padding and never counts.
    scale : float, optional
        Default ``head_dim ** -0.5`` (1 when head_dim is 0). 0 and negative are taken literally.
    softcap : float, optional
        Positive; None is off.
    sinks : ndarray of shape (heads,), optional
        One logit a head in the denominator, without a value; weights then sum to less than 1.
    backend : str, default "auto"
        ``"auto"`` takes the first that can; one asked for by name is used or refused.

    Raises
    ------
    ShapeError, OptionError, DtypeError
        One sentence with the real numbers and the next step.

    Notes
    -----
    float16, bfloat16 and float32 accumulate in float32, float64 in float64. A row that sees no key
    gives 0, with ``lse = -inf`` (the sink, if there is one). A NaN or +inf score makes its own row
    NaN, no other. Inputs are never written to. Values are summed before the division, as in every
    streaming kernel: those within a factor kv_len of the dtype's largest number may overflow.

    Where the query is a torch tensor, answers, facts, weights and gradients are tensors, and traces
    and maps NumPy's. `attend` carries gradients where an input requires them; all the rest is
    detached.

    References
    ----------
    Vaswani et al., "Attention Is All You Need", 2017, section 3.2.1.
    Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.

    Examples
    --------
    >>> look = Lookup([[1, 0]], [[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]])
    >>> look.attend().round(3)
    array([[0.802, 0.599]])
    >>> look.weights().round(3)
    array([[0.401, 0.198, 0.401]])
    """

    __slots__ = ()

    def attend(self) -> Array:
        """Return the answer, (..., heads, q_len, value_dim), in the inputs' dtype.

        Raises
        ------
        OptionError
            Where the lookup has no value.
        BackendError
            Where the backend asked for cannot compute it.
        """
        return answer(self.problem, self.backend, self.tensors)

    @names_checked
    def inspect(
        self,
        *,
        entropy: bool = False,
        sink: bool = False,
        max_score: bool = False,
        top: int | None = None,
        received: bool = False,
        from_rows: Any = None,
        normalised: bool = False,
        groups: Any = None,
        distance: bool = False,
    ) -> Inspection:
        """Return the answer and facts about its weights, without ever holding the weights.

        A fact is a reduction of what `weights` returns, or of the scores (`max_score`, the order of
        `top`). `Inspection` says the shape and the unit of each.

        Parameters
        ----------
        entropy : bool, default False
            Of each row, ``-sum(w * ln w)``, in nats; the sink's own term left out.
        sink : bool, default False
            Share of the sink in each row, ``1 - sum(w)``; refused where the lookup has no sinks.
        max_score : bool, default False
            The largest visible score of each row, and of each head.
        top : int, optional
            The keys with the largest scores in each row, ties to the lower position, and their
            weights. From 1; where a row sees fewer keys, the rest is position -1 with weight 0.
        received : bool, default False
            What each key receives from all rows together: the column sums of the weights, per
            query head and per kv head.
        from_rows : slice, range, int, list of int or bools, optional
            Only with `received`: the rows that count; also bools of shape (..., q_len), other
            rows for each batch entry. Default all.
        normalised : bool, default False
            Only with `received`: divided by the number of those rows that may see the key, per kv
            head by that of its whole group; 0 where none may.
        groups : integers of shape (kv_len,) or (..., kv_len), optional
            A label 0 ... 255 for each key, negative for none: each row's share per label.
        distance : bool, default False
            Each row's share per bin 0, 1, 2-3, 4-7, ... of ``abs(i + q_offset - j)``; with unequal
            lengths `q_offset` must have been given.

        Returns
        -------
        Inspection
            `out` is bit for bit that of `attend` by the same backend, whatever is asked. On a GPU
            ``"auto"`` may leave an answer alone to another one: `Inspection.backend` is its name.

        Raises
        ------
        ShapeError, OptionError, DtypeError
            One sentence with the real numbers and the next step.
        BackendError
            Where the backend asked for cannot compute it.

        Notes
        -----
        Memory grows with q_len and kv_len, never with their product. Time beside `attend`:
        `max_score` and `sink` none to speak of; `entropy`, `top`, `groups` and `distance` a pass or
        two over the scores while they are in cache; `received` a second computation of the scores
        of its rows, since it needs their final sums.

        Examples
        --------
        >>> look = Lookup([[1, 0]], [[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]])
        >>> facts = look.inspect(entropy=True, top=2, received=True)
        >>> facts.entropy.round(4)  # -(2 * 0.4011 ln 0.4011 + 0.1978 ln 0.1978)
        array([1.0534])
        >>> facts.top.keys, facts.top.weights.round(3)  # keys 0 and 2 tie
        (array([[0, 2]]), array([[0.401, 0.401]]))
        >>> facts.received.round(3)
        array([0.401, 0.198, 0.401])
        >>> look.inspect(groups=[0, 1, 1]).groups.round(3)
        array([[0.401, 0.599]])
        """
        p = self.problem
        facts = build_facts(
            p,
            entropy=entropy,
            sink=sink,
            max_score=max_score,
            top=top,
            received=received,
            from_rows=from_rows,
            normalised=normalised,
            groups=groups,
            distance=distance,
        )
        backend = registry.choose(p, facts, self.backend)
        try:
            found = build_inspection(p, facts, backend.forward(p, facts), backend.NAME)
        except MemoryError as error:
            if not facts.top:
                raise
            raise too_many((p.batch, p.heads, p.q_len, facts.top), p) from error
        return found if self.tensors is None else as_tensors(found)

    def gradients(self, out_grad: Any, *, lse_grad: Any = None) -> Gradients:
        """Return what reaches each input from the gradient of the output, and of the lse.

        Parameters
        ----------
        out_grad : ndarray of shape (..., heads, q_len, value_dim)
            The gradient of each number of `attend`; any float dtype, taken in the inputs'.
        lse_grad : ndarray of shape (..., heads, q_len), optional
            The gradient of each `Inspection.lse`, where a loss reads that, too.

        Returns
        -------
        Gradients
            query, key and value in the inputs' dtype and shapes; bias and sinks in their own.

        Raises
        ------
        OptionError
            Where the lookup has no value.
        ShapeError, DtypeError
            Where a gradient is not like what it is the gradient of.
        BackendError
            Where the backend asked for cannot compute it.

        Notes
        -----
        The weights are worked out again, tile by tile: memory grows with q_len and kv_len, and only
        a bias along both has a gradient of their product. Hidden keys and rows that see no key get
        0; a row that is NaN makes the gradients of the keys that it sees NaN. On `cpu` every number
        of threads gives the same bits.

        References
        ----------
        Dao et al., "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness",
        2022, appendix B.

        Examples
        --------
        How far does the first number of the output follow each input?

        >>> look = Lookup([[1, 0]], [[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]])
        >>> found = look.gradients([[1, 0]])
        >>> found.value.round(3)  # the weights
        array([[0.401, 0.   ],
               [0.198, 0.   ],
               [0.401, 0.   ]])
        >>> found.query.round(3)
        array([[ 0.112, -0.056]])
        """
        p = self.problem
        p.need_value()
        grad, of_lse = check_out_grad(p, out_grad), check_lse_grad(p, lse_grad)
        backend = registry.choose(p, NO_FACTS, self.backend)
        found = backend.backward(p, backend.residuals(p), grad, of_lse, bias=p.bias is not None)
        restored = restore(p, found)
        if self.tensors is None:
            return restored
        return Gradients._make(None if part is None else tensor_of(part) for part in restored)

    def weights(self, rows: Any = None, keys: Any = None) -> Array:
        """Return an exact rectangle of the weights, (..., heads, len(rows), len(keys)).

        Parameters
        ----------
        rows, keys : slice, range, int, list of int or bools, optional
            Which queries and keys; negative counts from the end; default all (mind the size).

        Returns
        -------
        ndarray
            float32 (float64 for float64 inputs); 0 where hidden.

        Raises
        ------
        OptionError
            Where the rectangle does not fit into memory.
        """
        p = self.problem
        backend = registry.choose(p, Facts(), self.backend)
        some_rows, some_keys = pick(rows, p.q_len, "rows"), pick(keys, p.kv_len, "keys")
        try:
            found = p.restore(backend.weights(p, some_rows, some_keys))
        except MemoryError as error:
            shape = (p.batch, p.heads, len(some_rows), len(some_keys))
            each, what = p.compute_dtype.itemsize, str(p.compute_dtype)
            raise too_large("weights", shape, each, what, "Choose rows=, keys=.") from error
        return found if self.tensors is None else tensor_of(found)

    def trace(self, rows: Any = None, *, tokens: Any = None, key_tokens: Any = None) -> Trace:
        """Return every step of chosen rows, float64; ``print()`` reads like the textbook.

        Parameters
        ----------
        rows : slice, range, int, list of int or bools, optional
            Which queries; default all.
        tokens, key_tokens : list of str, optional
            Texts of the queries and keys; positions where left out. Where lengths are equal,
            `key_tokens` defaults to `tokens`.

        Raises
        ------
        OptionError
            Where the rows asked for have more than 4,194,304 cells and are more than one.
        """
        return trace_rows(self.problem, rows, tokens, key_tokens)

    @names_checked
    def map(
        self,
        *,
        pools: Any = POOLS,
        build: bool = True,
        progress: Callable[[int, int], object] | None = None,
        limit: int = LIMIT,
    ) -> WeightMap:
        """Return the exact weight map of one head, from the whole down to single weights.

        Parameters
        ----------
        pools : tuple of str, default ("max", "share")
            What is kept of each cell: its largest weight; its weights summed over the keys and
            averaged over the queries.
        build : bool, default True
            False computes nothing yet: `WeightMap.step` and `WeightMap.build` do, and single
            weights and fine cells can be looked at right away.
        progress : callable, optional
            Called with how many bands of 32 queries are done, and of how many; what it raises ends
            the work.
        limit : int, default 2**30
            The most bytes that the map may take.

        Raises
        ------
        OptionError
            Where the lookup has more than one head, and where the map takes more than `limit`.

        Notes
        -----
        One pass over ``q . k``. Memory: about 4/3 of 4 bytes a pool for every 32 x 32 weights that
        causal, window and kv_lens leave; 52 MB for 100,000 causal tokens.

        Examples
        --------
        >>> look = Lookup([[1, 0]], [[1, 0], [0, 1], [1, 1]])
        >>> look.map().tile(0, 0, 0).max.round(3)
        array([[0.401, 0.198, 0.401]], dtype=float32)
        """
        made = WeightMap(self.problem, self.backend, pools=pools, limit=limit)
        if check_flag(build, "build"):
            check_buildable(made)
            made.build(progress)
        return made
