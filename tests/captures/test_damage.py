"""Any damage to a good file is read as something, or refused by a sentence: nothing else."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup import Lookup, load
from softlookup.captures import label
from softlookup.errors import FileError

FIELDS = {
    "query": [[1.0, 0.5], [2.0, 3.0]],
    "key": [[1.0, 0.0], [0.0, 1.0]],
    "value": [[1.0], [2.0]],
    "tokens": ["a", "b"],
    "mask": [[True, False], [True, True]],
    "scale": 2.0,
    "causal": True,
    "kv_lens": 2,
}
LETTERS = b'0123456789"[]{},:truefalsn-.eE\0\xff()<>|fO'

damages = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),  # where
        st.integers(0, 6),  # how many bytes go
        st.one_of(st.binary(max_size=6), st.lists(st.sampled_from(LETTERS), max_size=6).map(bytes)),
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    arrays = {name: np.array(given) for name, given in FIELDS.items()}
    np.savez(folder / "stored.npz", **arrays)
    np.savez_compressed(folder / "packed.npz", **arrays)
    capture = label(Lookup(**{name: FIELDS[name] for name in FIELDS if name != "tokens"}))
    capture.save(folder / "layers.safetensors")
    (folder / "text.json").write_text(json.dumps(FIELDS | {"bias": [[None, 1], ["-inf", 2]]}))
    return folder


@pytest.mark.parametrize("name", ["stored.npz", "packed.npz", "text.json", "layers.safetensors"])
@given(damage=damages)
def test_damage_is_read_or_named(folder, name, damage):
    content = bytearray((folder / name).read_bytes())
    for where, gone, new in damage:
        place = int(where * len(content))
        content[place : place + gone] = new
    file = folder / f"damaged-{name}"
    file.write_bytes(content)
    try:
        load(file)
    except FileError as error:
        message = str(error)
        assert message.startswith(f"{file}: ")
        assert message.isprintable()
        assert len(message) < 600 + len(str(file))
