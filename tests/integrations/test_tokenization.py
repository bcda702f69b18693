"""Tokens as a person reads them: small tokenizers of each kind, trained here on a few words."""

import pytest

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
tokenizers = pytest.importorskip(
    "tokenizers", reason="models (make models installs what they need)"
)

from tokenizers import (  # noqa: E402
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from softlookup.integrations import tokenization  # noqa: E402
from softlookup.integrations.tokenization import (  # noqa: E402
    axis_of,
    axis_reader,
    decode_bytes,
    padding_of,
    texts_of,
    words_of,
)

pytestmark = pytest.mark.models
WORDS = ["the bank of the river", "walking walked walks", "café naïve", "the the bank bank"]
EMOJI = "🦙"  # four bytes of UTF-8: F0 9F A6 99


def wrapped(backend, **special):
    return hf.PreTrainedTokenizerFast(tokenizer_object=backend, **special)


def byte_level():
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<|end|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    backend.train_from_iterator(WORDS * 9, trainer)
    return wrapped(backend, eos_token="<|end|>", pad_token="<|end|>")


def wordpiece():
    letters = sorted(set("".join(WORDS)) - {" "})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "bank", "walk", "##ing", "##ed", "."]
    names = [*pieces, *letters, *(f"##{letter}" for letter in letters)]
    vocabulary = {name: i for i, name in enumerate(names)}
    backend = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return wrapped(backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                   sep_token="[SEP]")  # fmt: skip


def sentencepiece(metaspace=True):
    """Unigram with byte fallback; without metaspace the whole text is one word, as in Llama 2."""
    pieces = ["<unk>", "<s>", "</s>", "▁the", "▁bank", "▁walk", "ing", "▁", "s"]
    scored = [(piece, -float(i)) for i, piece in enumerate(pieces)]
    scored += [(f"<0x{byte:02X}>", -99.0) for byte in range(256)]
    backend = tokenizers.Tokenizer(models.Unigram(scored, 0, byte_fallback=True))
    if metaspace:
        backend.pre_tokenizer = pre_tokenizers.Metaspace()
    else:
        backend.normalizer = normalizers.Sequence(
            [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        )
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    return wrapped(backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def axis(tokenizer, text, **options):
    encoded = tokenizer(text, **options)
    return axis_of(tokenizer, encoded["input_ids"], encoded["attention_mask"], encoded.encodings[0])


def test_byte_level_tokens_are_text_again():
    tokenizer = byte_level()
    made = axis(tokenizer, "the bank\n the bank")
    assert made.tokens[0] == "the"
    assert " bank" in made.tokens
    assert "\n" in made.tokens
    assert "".join(made.tokens) == "the bank\n the bank"
    assert not {"Ġ", "Ċ"} & set("".join(made.tokens))


def test_a_split_character_is_written_as_its_bytes():
    tokenizer = byte_level()
    made = axis(tokenizer, f"bank {EMOJI}")
    assert made.tokens[-4:] == ("<F0>", "<9F>", "<A6>", "<99>")
    assert len(set(made.words[-4:])) == 1
    whole = axis(tokenizer, "café")
    assert "é" in "".join(whole.tokens)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b" \xf0\x9f", " <F0><9F>"),
        (b"\xa6\x99 a", "<A6><99> a"),
        (b"a\xffb", "a<FF>b"),
        ("é\n".encode(), "é\n"),
        (b"", ""),
    ],
)
def test_bytes(data, text):
    assert decode_bytes(data) == text


def test_wordpiece_keeps_its_marks():
    made = axis(wordpiece(), "the walking bank.")
    assert made.tokens == ("[CLS]", "the", "walk", "##ing", "bank", ".", "[SEP]")
    assert made.words == (-1, 0, 1, 1, 2, 3, -1)


def test_two_texts_count_on():
    made = axis(wordpiece(), "the bank", text_pair="the walking")
    assert made.tokens == ("[CLS]", "the", "bank", "[SEP]", "the", "walk", "##ing", "[SEP]")
    assert made.words == (-1, 0, 1, -1, 2, 3, 3, -1)


def test_two_texts_side_by_side_are_two_words():
    made = axis(byte_level(), "the", text_pair="the")
    assert (made.tokens, made.words) == (("the", "the"), (0, 1))


@pytest.mark.parametrize("metaspace", [True, False])
def test_sentencepiece_spaces_are_spaces(metaspace):
    made = axis(sentencepiece(metaspace), "the bank walking")
    assert made.tokens == (" the", " bank", " walk", "ing")
    assert made.words == (0, 1, 2, 2)


def test_a_fallback_byte_is_its_character_and_its_code():
    made = axis(sentencepiece(), f"the\nA{EMOJI}")
    assert made.tokens == (" the", "\n<0x0A>", "A<0x41>", "<F0>", "<9F>", "<A6>", "<99>")


def test_special_and_added_tokens_are_as_they_are():
    tokenizer = byte_level()
    tokenizer.add_tokens(["Ġodd"])
    ids = [tokenizer.eos_token_id, *tokenizer("Ġodd")["input_ids"]]
    assert texts_of(tokenizer, ids) == ("<|end|>", "Ġodd")
    assert words_of(tokenizer, ids, texts_of(tokenizer, ids)) == (-1, 0)


class Guarded:
    """A tokenizer whose added tokens are told in another way, or not at all."""

    def __init__(self, tokenizer, told):
        self._tokenizer, self._told = tokenizer, told

    def __getattr__(self, name):
        return getattr(self._tokenizer, name)

    @property
    def added_tokens_decoder(self):
        return self._told()


def _not_there():
    raise NotImplementedError("`Guarded` does not implement `added_tokens_decoder`.")


def test_a_tokenizer_need_not_tell_its_added_tokens():
    own = byte_level()
    ids = own("the bank<|end|>", add_special_tokens=False)["input_ids"]
    texts, words = texts_of(own, ids), words_of(own, ids, texts_of(own, ids))
    assert texts[-1] == "<|end|>"
    for told in (_not_there, lambda: lambda: own.added_tokens_decoder, lambda: None):
        tokenizer = Guarded(own, told)
        assert texts_of(tokenizer, ids) == texts
        assert axis_of(tokenizer, ids) == axis_of(own, ids)
        assert words_of(tokenizer, ids, texts) == words


def test_an_id_without_a_token_is_its_number():
    assert texts_of(byte_level(), [99999]) == ("<99999>",)


@pytest.mark.parametrize("make", [byte_level, sentencepiece])
def test_words_are_guessed_from_spaces_where_nothing_else_is_known(make):
    tokenizer = make()
    ids = tokenizer(" the bank walking")["input_ids"]
    texts = texts_of(tokenizer, ids)
    words = words_of(tokenizer, ids, texts)
    assert len(set(words)) == sum(text.startswith(" ") for text in texts) == 3


def test_words_are_guessed_from_marks():
    tokenizer = wordpiece()
    ids = tokenizer("the walking bank")["input_ids"]
    assert words_of(tokenizer, ids, texts_of(tokenizer, ids)) == (-1, 0, 1, 1, 2, -1)


@pytest.mark.parametrize(("side", "span"), [("left", (0, 3)), ("right", (4, 7))])
def test_padding_is_of_no_word(side, span):
    tokenizer = wordpiece()
    tokenizer.padding_side = side
    made = axis(tokenizer, "the bank", padding="max_length", max_length=7)
    assert made.padding == (span,)
    assert [made.words[i] for i in range(*span)] == [-1] * 3
    assert sorted(made.words) == [-1] * 5 + [0, 1]


def test_an_ordinary_token_that_is_left_out_is_padding_too():
    tokenizer = byte_level()
    ids = tokenizer("the bank of")["input_ids"]
    made = axis_of(tokenizer, ids, [False] + [True] * (len(ids) - 1))
    assert (made.padding, made.words[:2]) == (((0, 1),), (-1, 0))


def test_padding_in_several_places():
    assert padding_of([0, 1, 0, 0, 1]) == ((0, 1), (2, 4))
    assert padding_of([1, 1]) == padding_of([]) == ()
    assert padding_of([0, 0]) == ((0, 2),)


def test_many_texts_ask_a_tokenizer_once_what_kind_it_is(monkeypatch):
    asked = []

    def spelling_of(tokenizer):
        asked.append(tokenizer)
        return spelling(tokenizer)

    spelling = tokenization.spelling_of
    monkeypatch.setattr(tokenization, "spelling_of", spelling_of)
    tokenizer = byte_level()
    read = axis_reader(tokenizer)
    texts = [tokenizer(text)["input_ids"] for text in WORDS]
    found = [read(ids) for ids in texts]
    assert len(asked) == 1
    assert found == [axis_of(tokenizer, ids) for ids in texts]
