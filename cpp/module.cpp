// The edge to Python: a call as a dict of numbers and arrays, checked and held by
// softlookup/backends/cpu.py, which is the only caller.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <thread>

#include "schedule.hpp"
#include "pool.hpp"
#include "units.hpp"

namespace nb = nanobind;
using namespace softlookup;

namespace {

// An entry of a call; the name is made once. What is left out is None.
#define ENTRY(given, name)                                              \
    ([&]() -> nb::handle {                                              \
        static PyObject* const key = PyUnicode_InternFromString(name);  \
        PyObject* found = PyDict_GetItemWithError((given).ptr(), key);  \
        return nb::handle(found ? found : Py_None);                     \
    }())

template <class X> X number(nb::handle entry, X otherwise) {
    return entry.is_none() ? otherwise : nb::cast<X>(entry);
}

// The buffer of an array. It stays where it is: the caller holds the array until the call returns.
struct Buffer {
    Py_buffer view{};
    explicit Buffer(nb::handle array) {
        if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_STRIDES) != 0) throw nb::python_error();
    }
    ~Buffer() { PyBuffer_Release(&view); }
    int64_t stride(int axis) const { return (int64_t)(view.strides[axis] / view.itemsize); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
};

template <class X> X* address(nb::handle array) {
    return array.is_none() ? nullptr : (X*)Buffer(array).view.buf;
}

Strided strided(nb::handle array) {
    if (array.is_none()) return Strided{};
    const Buffer four(array);
    return Strided{four.view.buf, four.stride(0), four.stride(1), four.stride(2), four.stride(3)};
}

// An array (entries, heads, q_len, kv_len) whose axes of length 1 repeat, and the batch's entries.
Overlay overlay(nb::handle given) {
    if (given.is_none()) return Overlay{};
    const auto parts = nb::cast<nb::tuple>(given);
    const Buffer four(parts[0]);
    const auto stride = [&](int axis) { return four.view.shape[axis] == 1 ? 0 : four.stride(axis); };
    return Overlay{four.view.buf, address<const int64_t>(parts[1]), four.stride(0), stride(1),
                   stride(2), stride(3)};
}

Call call_of(const nb::dict& given) {
    Call call{};
    call.dtype = number<int32_t>(ENTRY(given, "dtype"), 0);
    call.batch = number<int64_t>(ENTRY(given, "batch"), 0);
    call.heads = number<int64_t>(ENTRY(given, "heads"), 0);
    call.kv_heads = number<int64_t>(ENTRY(given, "kv_heads"), 0);
    call.q_len = number<int64_t>(ENTRY(given, "q_len"), 0);
    call.kv_len = number<int64_t>(ENTRY(given, "kv_len"), 0);
    call.head_dim = number<int64_t>(ENTRY(given, "head_dim"), 0);
    call.value_dim = number<int64_t>(ENTRY(given, "value_dim"), 0);
    call.query = strided(ENTRY(given, "query"));
    call.key = strided(ENTRY(given, "key"));
    call.value = strided(ENTRY(given, "value"));
    call.scale = number<double>(ENTRY(given, "scale"), 1);
    call.softcap = number<double>(ENTRY(given, "softcap"), 0);
    call.causal = number<bool>(ENTRY(given, "causal"), false);
    call.left = number<int64_t>(ENTRY(given, "left"), -1);
    call.right = number<int64_t>(ENTRY(given, "right"), -1);
    call.q_offset = address<const int64_t>(ENTRY(given, "q_offset"));
    call.kv_lens = address<const int64_t>(ENTRY(given, "kv_lens"));
    call.mask = overlay(ENTRY(given, "mask"));
    call.bias = overlay(ENTRY(given, "bias"));
    call.sinks = address<const void>(ENTRY(given, "sinks"));
    call.rows = address<const int64_t>(ENTRY(given, "rows"));
    call.row_count = number<int64_t>(ENTRY(given, "row_count"), call.q_len);
    call.out = address<void>(ENTRY(given, "out"));
    call.lse = address<void>(ENTRY(given, "lse"));
    call.entropy = address<void>(ENTRY(given, "entropy"));
    call.max_score = address<void>(ENTRY(given, "max_score"));
    call.sink = address<void>(ENTRY(given, "sink"));
    call.top = number<int64_t>(ENTRY(given, "top"), 0);
    call.top_keys = address<int64_t>(ENTRY(given, "top_keys"));
    call.top_weights = address<void>(ENTRY(given, "top_weights"));
    call.labels = address<const int32_t>(ENTRY(given, "labels"));
    call.group_count = number<int64_t>(ENTRY(given, "group_count"), 0);
    call.groups = address<void>(ENTRY(given, "groups"));
    call.bin_count = number<int64_t>(ENTRY(given, "bin_count"), 0);
    call.distance = address<void>(ENTRY(given, "distance"));
    call.received = address<void>(ENTRY(given, "received"));
    call.range_count = number<int64_t>(ENTRY(given, "range_count"), 0);
    call.range_rows = number<int64_t>(ENTRY(given, "range_rows"), 1);
    call.from_rows = address<const uint8_t>(ENTRY(given, "from_rows"));
    call.keys = address<const int64_t>(ENTRY(given, "keys"));
    call.key_count = number<int64_t>(ENTRY(given, "key_count"), 0);
    call.weights = address<void>(ENTRY(given, "weights"));
    call.block_max = address<void>(ENTRY(given, "block_max"));
    call.block_sum = address<void>(ENTRY(given, "block_sum"));
    call.bands = address<const int64_t>(ENTRY(given, "bands"));
    call.band_count = number<int64_t>(ENTRY(given, "band_count"), 0);
    call.block = number<int64_t>(ENTRY(given, "block"), BAND);
    call.row_from = number<int64_t>(ENTRY(given, "row_from"), 0);
    call.key_from = number<int64_t>(ENTRY(given, "key_from"), 0);
    call.shift = address<void>(ENTRY(given, "shift"));
    call.factor = address<void>(ENTRY(given, "factor"));
    call.known = number<bool>(ENTRY(given, "known"), false);
    call.part_count = number<int64_t>(ENTRY(given, "part_count"), 0);
    call.merging = number<bool>(ENTRY(given, "merging"), false);
    call.part_max = address<void>(ENTRY(given, "part_max"));
    call.part_sum = address<void>(ENTRY(given, "part_sum"));
    call.part_heat = address<void>(ENTRY(given, "part_heat"));
    call.part_acc = address<void>(ENTRY(given, "part_acc"));
    call.part_seen = address<uint8_t>(ENTRY(given, "part_seen"));
    call.part_scores = address<void>(ENTRY(given, "part_scores"));
    call.part_keys = address<int64_t>(ENTRY(given, "part_keys"));
    call.out_grad = strided(ENTRY(given, "out_grad"));
    call.delta = address<void>(ENTRY(given, "delta"));
    call.finite = number<bool>(ENTRY(given, "finite"), false);
    call.grad_ranges = number<int64_t>(ENTRY(given, "grad_ranges"), 1);
    call.query_grad = address<void>(ENTRY(given, "query_grad"));
    call.key_grad = address<void>(ENTRY(given, "key_grad"));
    call.value_grad = address<void>(ENTRY(given, "value_grad"));
    call.bias_grad = overlay(ENTRY(given, "bias_grad"));
    call.bias_range = number<int64_t>(ENTRY(given, "bias_range"), 0);
    return call;
}

// How many ranges of rows `received` is summed over, and how many rows each has.
nb::tuple ranges(const nb::dict& given, const std::string& name) {
    Call call = call_of(given);
    call.received = &call;  // what the answer is for
    const Cut cut = cut_of(call, unit_of(name, call.dtype));
    return nb::make_tuple(cut.ranges, cut.folded ? call.row_count : cut.range_tiles * cut.width);
}

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
}

// Others may run Python meanwhile. Once the interpreter is on its way out, a daemon thread that
// asks for it back is ended by an exception that the C++ around it may not pass on: it waits.
struct Released {
    PyThreadState* state = PyEval_SaveThread();
    ~Released() {
        while (is_finalizing()) std::this_thread::sleep_for(std::chrono::hours(1));
        PyEval_RestoreThread(state);
    }
};

unsigned long main_thread = 0;  // set as the module is loaded

// Whether a signal's handler raised something, e.g. KeyboardInterrupt: in the main thread alone.
bool interrupted() {
    if (PyThread_get_thread_ident() != main_thread) return false;
    nb::gil_scoped_acquire held;
    return PyErr_CheckSignals() != 0;
}

void forward(const nb::dict& given, const std::string& name, int threads) {
    const Call call = call_of(given);
    const Unit& unit = unit_of(name, call.dtype);
    bool whole = false;
    {
        const Released released;
        whole = compute(call, unit, threads, interrupted);
    }
    if (!whole) throw nb::python_error();  // what the signal's handler raised
}

// Do `rounds` of multiply-adds in registers, and return how many operations that was.
double spin(const std::string& name, int dtype, int64_t rounds) {
    return unit_of(name, dtype).spin(dtype, rounds);
}

}  // namespace

NB_MODULE(_core, module) {
    module.doc() = "The CPU kernels of softlookup.";
    main_thread = nb::cast<unsigned long>(
        nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    module.def("forward", &forward);
    module.def("ranges", &ranges);
    module.def("spin", &spin);
    module.def("compiled", &compiled);
    module.def("supported", &supported);
    module.def("processors", &processors);
}
