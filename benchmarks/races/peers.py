"""The other ways to compute attention, each in the best form we know; whichever is installed.

A peer is a function from a `Case` to its forms by name: calls that do the whole work once, on
arrays that were laid out for it beforehand. `best_of` takes the form that is fastest here. Decode
folds the query heads of a kv head into rows, which every peer does faster than repeating keys.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import measure
import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
Call = Callable[[], Any]
Forms = dict[str, Call]


@dataclass(frozen=True)
class Case:
    """One lookup without options but `causal`: arrays (batch, heads, length, head_dim).

    Where there are more query heads than key heads, they share them, and `query` has one row.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    causal: bool = False

    @property
    def grouped(self) -> bool:
        """Whether query heads share key heads."""
        return self.query.shape[1] != self.key.shape[1]

    @property
    def bfloat16(self) -> bool:
        """Whether the numbers are bfloat16."""
        return self.query.dtype == BFLOAT16

    def folded(self) -> np.ndarray:
        """Return the query with the heads of one key head as its rows."""
        if not self.grouped:
            return self.query
        batch, kv_heads, _, head_dim = self.key.shape
        return self.query.reshape(batch, kv_heads, -1, head_dim)


def one_thread() -> None:
    """Keep this process, and the peers that are loaded later, to one core and one thread."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.environ["JAX_PLATFORMS"] = "cpu"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def numpy_forms(case: Case) -> Forms:
    """Return plain matmul, softmax, matmul with the whole score matrix, each step in place."""
    if case.bfloat16:
        return {}  # NumPy has no product of bfloat16
    query, key, value = case.folded(), case.key.swapaxes(-1, -2), case.value
    scale, bias = np.float32(query.shape[-1] ** -0.5), None
    if case.causal:  # made beforehand
        length = query.shape[-2]
        bias = np.triu(np.full((length, length), -np.inf, np.float32), 1)

    def call() -> np.ndarray:
        scores = (query * scale) @ key
        if bias is not None:
            scores += bias
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        out = scores @ value
        out /= scores.sum(axis=-1, keepdims=True)
        return out

    return {"matmul": call}


def torch_tensor(array: np.ndarray) -> Any:
    """Return a tensor that shares memory with the array."""
    torch = import_module("torch")
    if array.dtype == BFLOAT16:
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def torch_forms(case: Case) -> Forms:
    """Return `scaled_dot_product_attention`; for one query also the two products by themselves."""
    torch = import_module("torch")
    torch.set_num_threads(1)
    attention = torch.nn.functional.scaled_dot_product_attention
    query, key, value = (torch_tensor(x) for x in (case.folded(), case.key, case.value))
    forms: Forms = {"sdpa": lambda: attention(query, key, value, is_causal=case.causal)}
    if case.grouped:
        scale = query.shape[-1] ** -0.5
        turned = key.transpose(-1, -2)
        forms["matmul"] = lambda: torch.softmax((query * scale) @ turned, -1) @ value
    return forms


def onnxruntime_forms(case: Case) -> Forms:
    """Return the standard's Attention and Microsoft's MultiHeadAttention, tensors bound."""
    if case.bfloat16:
        return {}  # its CPU kernels have no bfloat16
    helper = import_module("onnx.helper")
    heads = case.key.shape[1]
    four = [case.folded(), case.key, case.value]
    three = [x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1) for x in four]
    names = ["query", "key", "value"]
    standard = helper.make_node("Attention", names, ["out"], is_causal=int(case.causal))
    own = helper.make_node(
        "MultiHeadAttention", names, ["out"], domain="com.microsoft", num_heads=heads,
        unidirectional=int(case.causal),
    )  # fmt: skip
    return {
        "Attention": _onnx_call(standard, names, four),
        "MultiHeadAttention": _onnx_call(own, names, three),
    }


def _onnx_call(node: Any, names: list[str], arrays: list[np.ndarray]) -> Call:
    """Return the call of a graph of one node."""
    runtime, helper = import_module("onnxruntime"), import_module("onnx.helper")
    arrays = [np.ascontiguousarray(array) for array in arrays]
    infos = [
        helper.make_tensor_value_info(name, 1, array.shape)
        for name, array in zip(names, arrays, strict=True)
    ]
    out = np.empty(arrays[0].shape, np.float32)
    graph = helper.make_graph(
        [node], "one", infos, [helper.make_tensor_value_info("out", 1, out.shape)]
    )
    sets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=sets, ir_version=10)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    binding = session.io_binding()
    held = [runtime.OrtValue.ortvalue_from_numpy(array) for array in (*arrays, out)]
    for name, array in zip(names, held, strict=False):
        binding.bind_ortvalue_input(name, array)
    binding.bind_ortvalue_output("out", held[-1])

    def call() -> Any:
        session.run_with_iobinding(binding)
        return held[-1]

    return call


def openvino_forms(case: Case) -> Forms:
    """Return ScaledDotProductAttention, compiled for the inputs' precision, tensors bound."""
    vino, operations = import_module("openvino"), import_module("openvino.opset13")
    kind = vino.Type.bf16 if case.bfloat16 else vino.Type.f32
    arrays = [np.ascontiguousarray(x) for x in (case.folded(), case.key, case.value)]
    inputs = [operations.parameter(list(x.shape), kind) for x in arrays]
    node = operations.scaled_dot_product_attention(*inputs, causal=case.causal)
    hints = {
        "INFERENCE_NUM_THREADS": 1,
        "NUM_STREAMS": 1,
        "INFERENCE_PRECISION_HINT": kind,
        "ENABLE_CPU_PINNING": False,
    }
    compiled = vino.Core().compile_model(vino.Model([node], inputs), "CPU", hints)
    request = compiled.create_infer_request()
    for place, array in enumerate(arrays):
        shared = array.view(np.uint16) if case.bfloat16 else array
        tensor = vino.Tensor(shared, list(array.shape), kind)
        request.set_input_tensor(place, tensor)

    def call() -> Any:
        request.infer()
        return request.get_output_tensor(0)

    return {"ScaledDotProductAttention": call}


def jax_forms(case: Case) -> Forms:
    """Return `jax.nn.dot_product_attention`, compiled, in its own layout, heads after length."""
    if case.bfloat16:
        return {}  # it goes on after it has answered: whoever comes next took twice as long
    jax = import_module("jax")
    attention = jax.nn.dot_product_attention
    compiled = jax.jit(lambda *three: attention(*three, is_causal=case.causal))

    def form(query: np.ndarray) -> Call:
        laid = (query, case.key, case.value)
        three = [jax.numpy.asarray(np.ascontiguousarray(x.swapaxes(1, 2))) for x in laid]
        return lambda: compiled(*three).block_until_ready()

    forms = {"dot_product_attention": form(case.folded())}
    if case.grouped:
        forms["dot_product_attention, grouped"] = form(case.query)
    return forms


PEERS: Mapping[str, tuple[str, Callable[[Case], Forms]]] = {
    "PyTorch": ("torch", torch_forms),
    "ONNX Runtime": ("onnxruntime", onnxruntime_forms),
    "OpenVINO": ("openvino", openvino_forms),
    "JAX": ("jax", jax_forms),
    "NumPy": ("numpy", numpy_forms),
}


def installed() -> dict[str, str]:
    """Return the version of each peer that is there, by name."""
    return {name: version(module) for name, (module, _) in PEERS.items() if find_spec(module)}


def missing() -> list[str]:
    """Return the names of those that are not."""
    return [name for name in PEERS if name not in installed()]


def best_of(case: Case, left_out: tuple[str, ...] = ()) -> Iterator[tuple[str, str, Call]]:
    """Yield (peer, form, call) for every peer that is installed and can compute `case`."""
    for name in installed():
        forms = {} if name in left_out else PEERS[name][1](case)
        if forms:
            form = (
                next(iter(forms)) if len(forms) == 1 else min(forms, key=lambda f: _warm(forms[f]))
            )
            yield name, form, forms[form]


def _warm(call: Call) -> float:
    """Return the seconds of a call after the first, which makes what is kept."""
    measure.seconds(call, 1)
    return min(measure.seconds(call, 1) for _ in range(2))


def assert_same(ours: np.ndarray, theirs: Any, name: str) -> None:
    """Refuse to measure what computes something else; layouts differ, so sorted numbers count."""
    expected = np.sort(ours.astype(np.float32), axis=None)
    found = np.sort(numbers_of(theirs), axis=None)
    apart = np.abs(found - expected).max() if found.shape == expected.shape else np.inf
    if not apart <= (0.05 if ours.dtype == BFLOAT16 else 1e-4):
        raise AssertionError(f"{name} computes something else: {apart} apart")


def numbers_of(result: Any) -> np.ndarray:
    """Return what a peer's call returned as float32."""
    library = type(result).__module__.partition(".")[0]
    if library == "torch":
        return result.float().numpy()
    if library == "openvino":
        words, bits = result.data, result.element_type.bitwidth
        return (words.view(BFLOAT16) if bits == 16 else words).astype(np.float32)
    array = result.numpy() if library == "onnxruntime" else np.asarray(result)
    return array.astype(np.float32)
