"""Tiny models with random weights, one of each kind of attention. No downloads, milliseconds each.

Weights are drawn larger than a fresh model's, so that attention is far from uniform.
"""

import torch
import transformers as hf

SMALL = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
LLAMA = SMALL | {"intermediate_size": 32, "num_key_value_heads": 2, "max_position_embeddings": 64}


def bert():
    return hf.BertModel(hf.BertConfig(**SMALL, intermediate_size=32, max_position_embeddings=64))


def gpt2():
    return hf.GPT2LMHeadModel(
        hf.GPT2Config(vocab_size=61, n_embd=24, n_layer=2, n_head=4, n_positions=64,
                      bos_token_id=1, eos_token_id=2)
    )  # fmt: skip


def llama():
    return hf.LlamaForCausalLM(hf.LlamaConfig(**LLAMA))


def mistral():
    return hf.MistralForCausalLM(hf.MistralConfig(**LLAMA, sliding_window=3))


def gemma2():
    return hf.Gemma2ForCausalLM(
        hf.Gemma2Config(**LLAMA, head_dim=6, query_pre_attn_scalar=11, sliding_window=3,
                        attn_logit_softcapping=1.5)
    )  # fmt: skip


def gpt_oss():
    return hf.GptOssForCausalLM(
        hf.GptOssConfig(**LLAMA, head_dim=6, num_local_experts=2, num_experts_per_tok=1,
                        sliding_window=3)
    )  # fmt: skip


def t5():
    return hf.T5ForConditionalGeneration(
        hf.T5Config(vocab_size=61, d_model=24, d_kv=6, d_ff=32, num_layers=2, num_heads=4,
                    decoder_start_token_id=0)
    )  # fmt: skip


def whisper():
    return hf.WhisperForConditionalGeneration(
        hf.WhisperConfig(vocab_size=61, d_model=24, encoder_layers=2, decoder_layers=2,
                         encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=32,
                         decoder_ffn_dim=32, num_mel_bins=5, max_source_positions=11,
                         max_target_positions=16, decoder_start_token_id=1, pad_token_id=0,
                         bos_token_id=1, eos_token_id=2)
    )  # fmt: skip


def falcon():
    return hf.FalconForCausalLM(hf.FalconConfig(**SMALL))


def deberta():
    return hf.DebertaV2Model(hf.DebertaV2Config(**SMALL, intermediate_size=32))


FAMILIES = {
    made.__name__: made for made in (bert, gpt2, llama, mistral, gemma2, gpt_oss, t5, whisper)
}


def build(make, dtype=torch.float32):
    """Return one of the models above, always with the same weights."""
    torch.manual_seed(7)
    model = make().eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                weight.normal_(0, 0.3)
            if "sinks" in name:
                weight.normal_(0, 2)
    return model.to(dtype)


def inputs_for(model, lengths=(7, 7), side="right"):
    """Return a batch of token ids, padded at one side, in the form that the model takes."""
    torch.manual_seed(11)
    longest = max(lengths)
    ids = torch.randint(3, 61, (len(lengths), longest))
    mask = torch.ones_like(ids)
    for row, length in enumerate(lengths):
        pad = slice(length, None) if side == "right" else slice(0, longest - length)
        mask[row, pad] = 0
        ids[row, pad] = 0
    if isinstance(model, hf.WhisperForConditionalGeneration):
        return {"input_features": torch.randn(len(lengths), 5, 22), "decoder_input_ids": ids}
    given = {"input_ids": ids, "attention_mask": mask}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = torch.randint(3, 61, (len(lengths), 5))
    return given
