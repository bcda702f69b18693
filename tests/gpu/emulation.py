"""The Hopper kernel on the CPU: the product's own source, with stand-ins for Gluon's names.

All partitions of all programs run as threads, one at a time, the next drawn at random. What the
GPU does by itself (copies by TMA, products of the tensor cores) comes as late as the kernel's waits
allow, or at once: `haste` is the chance that it comes before a partition goes on. A room that is
being filled holds NaN until it is. So a wrong barrier shows as a wrong number or as a standstill.

What this does not see: how Triton translates the source, and fences. Tiles are float32 arrays;
casts round.
"""

import builtins
import importlib.util
import threading
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import torch
from turns import Turns

SOURCE = Path(importlib.util.find_spec("softlookup").origin).parent / "backends/triton/hopper.py"
_ROUNDED = {"bf16": np.dtype(ml_dtypes.bfloat16), "fp16": np.dtype(np.float16)}
_NAMES = {dtype: name for name, dtype in _ROUNDED.items()}
_BYTES = 2
COPIES = "async_copy_global_to_shared", "async_copy_shared_to_global"  # Triton 3.6's names


class Tile(np.ndarray):
    """Numbers in registers; a layout is nothing here."""

    type = SimpleNamespace(layout=None)


def _tile(numbers):
    return np.asarray(numbers).view(Tile)


class Barrier:
    """An mbarrier: arrivals and bytes that are still missing, and its phase."""

    def init(self, count):
        self.count = self.missing = count
        self.bytes = self.phase = 0

    def update(self, arrivals=0, more_bytes=0):
        self.missing -= arrivals
        self.bytes += more_bytes
        assert self.missing >= 0, "more arrivals than the barrier was made for"
        if self.missing == 0 and self.bytes == 0:
            self.phase += 1
            self.missing = self.count


class Room:
    """Shared memory: numbers, or barriers."""

    def __init__(self, held):
        self.held = held

    def index(self, i):
        return self.held[i] if isinstance(self.held, list) else Room(self.held[i])

    def permute(self, order):
        return Room(self.held.transpose(order))

    def store(self, numbers):
        self.held[...] = numbers

    def load(self, layout):
        return _tile(self.held.copy())


class Pointer:
    def __init__(self, array, at=0):
        self.array, self.at = array, at

    def __add__(self, step):
        return Pointer(self.array, self.at + step)

    def __sub__(self, step):
        return Pointer(self.array, self.at - step)


class Blocks:
    """A tensor descriptor: blocks of a two-dimensional array, which is float32 here."""

    def __init__(self, array, rows, columns, dtype):
        self.array, self.shape, self.dtype, self.layout = array, (rows, columns), dtype, None
        self.block_type = SimpleNamespace(nbytes=rows * columns * _BYTES)
        self.written = False

    def at(self, place):
        (row, column), (rows, columns) = place, self.shape
        block = self.array[row : row + rows, column : column + columns]
        assert block.shape == self.shape, f"a block at {place} of an array {self.array.shape}"
        return block


class Product:
    """The accumulators of a product that may still be under way."""

    numbers = None


class Machine:
    """One multiprocessor for each program: what the kernel's names do there."""

    def __init__(self, seed, haste, programs):
        self.turns = Turns(seed, haste)
        self.programs = programs
        self.products = {}  # partition to its products under way
        self.stores = {}  # partition to its stores under way
        self.partitions = {}
        self.setting_up = 0
        self.copies = 0

    @staticmethod
    def me():
        return threading.current_thread().name

    def program_id(self, axis):
        return int(self.me().split(".")[0])

    def warp_specialize(self, partitions, warps, registers):
        for i, (function, given) in enumerate(partitions):
            name = f"{self.setting_up}.{i}"
            self.partitions[name] = lambda function=function, given=given: function(*given)

    def expect(self, barrier, count):
        self.turns.step()
        barrier.update(arrivals=1, more_bytes=count)

    def arrive(self, barrier, count=1):
        self.turns.step()
        barrier.update(arrivals=count)

    def wait(self, barrier, phase):
        self.turns.step(lambda: barrier.phase & 1 != phase)

    def load(self, source, place, barrier, room):
        def arrive():
            room.held[...] = source.at(place)
            barrier.update(more_bytes=-source.block_type.nbytes)

        assert source.shape == room.held.shape
        room.held[...] = np.nan  # from here on the old numbers may be gone
        self.copies += 1
        self.turns.start(f"copy {self.copies}", arrive)  # copies overtake one another
        self.turns.step()

    def store(self, target, place, room):
        done = []

        def arrive():
            if not done:
                done.append(True)
                target.at(place)[...] = room.held
                target.written = True

        self.stores.setdefault(self.me(), []).append(arrive)
        self.turns.start(f"store {self.me()}", arrive)
        self.turns.step()

    def store_wait(self, left):
        self.turns.step()
        for arrive in self.stores.pop(self.me(), []):
            arrive()

    def multiply(self, left, right, acc, use_acc=True, is_async=False):
        product, mine = Product(), self.products.setdefault(self.me(), [])

        def numbers(held):
            return held.held if isinstance(held, Room) else held

        def arrive():
            if product.numbers is None:
                before = acc.numbers if isinstance(acc, Product) else acc
                made = numbers(left) @ numbers(right)
                product.numbers = _tile(made + before if use_acc else made)
                mine.remove(product)

        product.arrive = arrive
        mine.append(product)
        self.turns.start(f"product {self.me()}", arrive)
        self.turns.step()
        return product

    def wait_for_products(self, left, deps):
        self.turns.step()
        mine = self.products.setdefault(self.me(), [])
        while len(mine) > left:
            mine[0].arrive()
        found = []
        for one in deps:
            if isinstance(one, Product):
                assert one.numbers is not None, "a product is used that was not waited for"
            found.append(one.numbers if isinstance(one, Product) else one)
        return found[0] if len(found) == 1 else tuple(found)


def _shared(dtype, shape, layout):
    if dtype == "barriers":
        return Room([Barrier() for _ in range(shape[0])])
    return Room(np.full(shape, -7) if dtype == "int32" else np.full(shape, np.nan, np.float32))


def _cast(numbers, dtype):
    rounded = _ROUNDED.get(dtype)
    return numbers if rounded is None else _tile(numbers.astype(rounded).astype(np.float32))


def _store(pointer, numbers, mask=None):
    at = pointer.at if mask is None else np.broadcast_to(pointer.at, mask.shape)[mask]
    pointer.array[at] = numbers


def _atomic_add(pointer, step):
    before = int(pointer.array[pointer.at])
    pointer.array[pointer.at] += step
    return before


def _fma(a, b, c):
    return _tile((np.float64(a) * np.float64(b) + np.float64(c)).astype(np.float32))


def _gluon(machine):
    """Return the names of Gluon's language that the kernel uses."""
    names = SimpleNamespace(
        constexpr=lambda number: number,
        static_range=range,
        float32="fp32",
        int32="int32",
        int64="barriers",  # int64 in shared memory are barriers, and elsewhere a cast to it is none
        program_id=machine.program_id,
        num_programs=lambda axis: machine.programs,
        warp_specialize=machine.warp_specialize,
        allocate_shared_memory=_shared,
        atomic_add=_atomic_add,
        store=_store,
        cast=_cast,
        fma=_fma,
        where=lambda condition, a, b: _tile(np.where(condition, a, b)),
        arange=lambda start, end, layout: _tile(np.arange(start, end)),
        full=lambda shape, number, dtype, layout: _tile(np.full(shape, number)),
        zeros=lambda shape, dtype, layout: _tile(np.zeros(shape, np.float32)),
        max=lambda tile, axis: int(tile.max()) if tile.ndim == 1 else tile.max(axis),
        sum=lambda tile, axis: tile.sum(axis, dtype=np.float32),
        exp2=np.exp2,
        log2=np.log2,
        maximum=np.maximum,
        convert_layout=lambda tile, layout, assert_trivial=False: tile,
        reshape=lambda tile, shape: tile.reshape(shape),
    )
    for layout in ("NVMMADistributed", "DotOperand", "Slice", "Blocked", "SwizzledShared"):
        setattr(names, f"{layout}Layout", lambda *parts: None)
    return names


def load_kernel(machine, source):
    """Return the kernel of a source text, bound to a machine."""
    hopper = SimpleNamespace(
        fence_async_shared=lambda: None,
        mbarrier=SimpleNamespace(
            MBarrierLayout=lambda: None,
            init=lambda barrier, count: barrier.init(count),
            expect=machine.expect,
            arrive=machine.arrive,
            wait=machine.wait,
        ),
        tma=SimpleNamespace(
            **dict(zip(COPIES, (machine.load, machine.store), strict=True)),
            store_wait=machine.store_wait,
        ),
        warpgroup_mma=machine.multiply,
        warpgroup_mma_wait=machine.wait_for_products,
    )
    gluon = SimpleNamespace(jit=lambda *given, **_: given[0] if given else lambda kernel: kernel)
    modules = {
        "triton.experimental": SimpleNamespace(gluon=gluon),
        "triton.experimental.gluon": SimpleNamespace(language=_gluon(machine)),
        "triton.experimental.gluon.language.nvidia.hopper": hopper,
    }
    own = {"__import__": lambda name, *_: modules[name]}
    names = {"__builtins__": vars(builtins) | own}
    exec(compile(source, str(SOURCE), "exec"), names)  # noqa: S102 (our own source)
    return names["look_up_kernel"]


class Emulated:
    """In place of the kernel: launched like it, on descriptors and tensors in memory."""

    def __init__(self, seed=0, haste=0.3, source=None):
        self.seed, self.haste = seed, haste
        self.source = SOURCE.read_text(encoding="utf-8") if source is None else source

    def __getitem__(self, grid):
        return lambda *given, **options: self._launch(grid[0], given, options)

    def _launch(self, programs, given, options):
        options = {name: number for name, number in options.items() if name.isupper()}
        written, arguments = [], []
        for one in given:
            argument, back = _taken(one)
            arguments.append(argument)
            written.append(back)
        machine = Machine(self.seed, self.haste, programs)
        look_up_kernel = load_kernel(machine, self.source)
        for machine.setting_up in range(programs):
            look_up_kernel(*arguments, **options)
        machine.turns.run(machine.partitions)
        for back in written:
            back()


def _taken(one):
    """Return an argument as the emulated kernel takes it, and what writes it back."""
    if hasattr(one, "block_shape"):  # a tensor descriptor
        kept = _numbers(one.base)
        strides = [step * kept.itemsize for step in one.strides]
        matrix = np.lib.stride_tricks.as_strided(kept, one.shape, strides)
        blocks = Blocks(matrix.astype(np.float32), *one.block_shape, _NAMES[kept.dtype])
        return blocks, lambda: blocks.written and np.copyto(matrix, blocks.array, "same_kind")
    if hasattr(one, "data_ptr"):
        rest = one.untyped_storage().nbytes() // one.element_size() - one.storage_offset()
        return Pointer(_numbers(one.as_strided((rest,), (1,)))), lambda: None
    return one, lambda: None


def _numbers(tensor):
    """Return a tensor in memory as NumPy, sharing its numbers."""
    if str(tensor.dtype) == "torch.bfloat16":
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()
