"""Where the prompt ended that generate() went on from is known, and said."""

import pytest

import softlookup as sl

hf = pytest.importorskip("transformers", reason="models (make models installs what they need)")
torch = pytest.importorskip("torch", reason="models (make models installs what they need)")

from tiny import FAMILIES, build, inputs_for  # noqa: E402 (they need torch)

pytestmark = pytest.mark.models

WRITES = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False}


@pytest.mark.parametrize("compute", ["softlookup", "model"])
def test_a_forward_has_no_prompt_and_generate_has(compute):
    llama = build(FAMILIES["llama"])
    inputs = inputs_for(llama)
    length = inputs["input_ids"].shape[1]
    with sl.watch(llama, compute=compute) as seen:
        llama(**inputs)
        llama.generate(**inputs, **WRITES)
        llama(**inputs)
    assert [seen.run(run)[1].prompt for run in range(3)] == [None, length, None]
    layer = seen.run(1)[1]
    assert layer.written.tolist() == [at >= length for at in range(length + 3)]
    assert f"({length} of the prompt)" in repr(layer)


def test_a_decoder_writes_and_its_encoder_does_not():
    t5 = build(FAMILIES["t5"])
    inputs = inputs_for(t5)
    with sl.watch(t5) as seen:
        t5.generate(**inputs, **WRITES)
    assert seen["encoder", 0].prompt is None
    length = 1 + inputs["decoder_input_ids"].shape[1]  # generate() puts a token before them
    assert seen["decoder", 0].prompt == seen["cross", 0].prompt == length
    assert not seen["cross", 0].key_written.any()


def test_a_prompt_that_comes_in_parts_is_not_known():
    llama = build(FAMILIES["llama"])
    with sl.watch(llama) as seen:
        llama.generate(**inputs_for(llama), **WRITES, prefill_chunk_size=2)
    assert seen[0].prompt is None


def test_where_each_step_reads_the_whole_text_all_of_them_know_it():
    llama = build(FAMILIES["llama"])
    inputs = inputs_for(llama)
    length = inputs["input_ids"].shape[1]
    with sl.watch(llama) as seen:
        llama.generate(**inputs, **WRITES, use_cache=False)
    assert [seen.run(run)[0].written.sum() for run in range(4)] == [0, 1, 2, 3]
    assert {seen.run(run)[0].prompt for run in range(4)} == {length}
