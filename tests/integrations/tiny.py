"""Tiny models with random weights, one of each kind of attention. No downloads, milliseconds each.

Weights are drawn larger than a fresh model's, so that attention is far from uniform.
"""

import torch
import transformers as hf

SMALL = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
LLAMA = SMALL | {"intermediate_size": 32, "num_key_value_heads": 2, "max_position_embeddings": 64}
SPEAKS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
BESIDE = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
          "decoder_attention_heads": 4, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
          "vocab_size": 61, "d_model": 24, "decoder_start_token_id": 1} | SPEAKS  # fmt: skip
IMAGE = {"image_size": 8, "patch_size": 4, "num_channels": 3}


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


def qwen3():
    """Norms of query and key, and a window in the second layer only."""
    return hf.Qwen3ForCausalLM(
        hf.Qwen3Config(**LLAMA | SPEAKS, head_dim=6, use_sliding_window=True, sliding_window=3,
                       max_window_layers=1)
    )  # fmt: skip


def gemma2():
    return hf.Gemma2ForCausalLM(
        hf.Gemma2Config(**LLAMA, head_dim=6, query_pre_attn_scalar=11, sliding_window=3,
                        attn_logit_softcapping=1.5)
    )  # fmt: skip


def gemma3():
    kinds = ["sliding_attention", "full_attention"]
    return hf.Gemma3ForCausalLM(
        hf.Gemma3TextConfig(**LLAMA, head_dim=6, query_pre_attn_scalar=11, sliding_window=3,
                            layer_types=kinds)
    )  # fmt: skip


def gpt_oss():
    return hf.GptOssForCausalLM(
        hf.GptOssConfig(**LLAMA, head_dim=6, num_local_experts=2, num_experts_per_tok=1,
                        sliding_window=3)
    )  # fmt: skip


def llama4():
    """Chunks of four tokens in the first layer, no positions in the second."""
    return hf.Llama4ForCausalLM(
        hf.Llama4TextConfig(**LLAMA | SPEAKS, head_dim=6, intermediate_size_mlp=32,
                            num_local_experts=2, num_experts_per_tok=1, attention_chunk_size=4,
                            no_rope_layers=[1, 0])
    )  # fmt: skip


def deepseek_v3():
    """Queries and keys of ten numbers, values of six."""
    return hf.DeepseekV3ForCausalLM(
        hf.DeepseekV3Config(**LLAMA | {"num_key_value_heads": 4}, q_lora_rank=8, kv_lora_rank=8,
                            qk_rope_head_dim=4, qk_nope_head_dim=6, v_head_dim=6, n_group=1,
                            topk_group=1, n_routed_experts=2, num_experts_per_tok=1,
                            moe_intermediate_size=16, first_k_dense_replace=1)
    )  # fmt: skip


def opt():
    return hf.OPTForCausalLM(
        hf.OPTConfig(**SMALL | SPEAKS, ffn_dim=32, max_position_embeddings=64,
                     word_embed_proj_dim=24)
    )  # fmt: skip


def phi3():
    return hf.Phi3ForCausalLM(hf.Phi3Config(**LLAMA | SPEAKS, sliding_window=3))


def gpt_neox():
    return hf.GPTNeoXForCausalLM(
        hf.GPTNeoXConfig(**SMALL, intermediate_size=32, max_position_embeddings=64)
    )  # fmt: skip


def modernbert():
    """A window to both sides in the second layer only."""
    return hf.ModernBertModel(
        hf.ModernBertConfig(**SMALL | SPEAKS, intermediate_size=32, max_position_embeddings=64,
                            local_attention=4, global_attn_every_n_layers=2, cls_token_id=1,
                            sep_token_id=2)
    )  # fmt: skip


def distilbert():
    return hf.DistilBertModel(
        hf.DistilBertConfig(vocab_size=61, dim=24, n_layers=2, n_heads=4, hidden_dim=32,
                            max_position_embeddings=64)
    )  # fmt: skip


def clip_text():
    """Causal by what it hands on, not by what its modules say."""
    return hf.CLIPTextModel(
        hf.CLIPTextConfig(**SMALL | SPEAKS, intermediate_size=32, max_position_embeddings=64)
    )


def vit():
    return hf.ViTModel(
        hf.ViTConfig(hidden_size=24, num_hidden_layers=2, num_attention_heads=4,
                     intermediate_size=32, **IMAGE)
    )  # fmt: skip


def t5():
    return hf.T5ForConditionalGeneration(
        hf.T5Config(vocab_size=61, d_model=24, d_kv=6, d_ff=32, num_layers=2, num_heads=4,
                    decoder_start_token_id=0)
    )  # fmt: skip


def bart():
    return hf.BartForConditionalGeneration(hf.BartConfig(**BESIDE, max_position_embeddings=64))


def whisper():
    return hf.WhisperForConditionalGeneration(
        hf.WhisperConfig(**BESIDE, num_mel_bins=5, max_source_positions=11,
                         max_target_positions=16)
    )  # fmt: skip


def qwen2_vl():
    """Reads images in a tower of its own, which looks up once for each of them."""
    turns = {"rope_type": "default", "mrope_section": [1, 1, 1], "rope_theta": 1e4}
    vision = {"depth": 2, "embed_dim": 16, "hidden_size": 24, "num_heads": 2, "mlp_ratio": 2,
              "patch_size": 2, "spatial_merge_size": 2, "temporal_patch_size": 2}  # fmt: skip
    return hf.Qwen2VLForConditionalGeneration(
        hf.Qwen2VLConfig(text_config=LLAMA | SPEAKS | {"rope_parameters": turns},
                         vision_config=vision, image_token_id=60, video_token_id=59,
                         vision_start_token_id=58, vision_end_token_id=57)
    )  # fmt: skip


def images_for(sizes):
    """Return a text with an image of each size, in merged patches high and wide."""
    torch.manual_seed(11)
    text = [5]
    for high, wide in sizes:
        text += [58, *[60] * high * wide, 57]
    ids = torch.tensor([[*text, 7]])
    patches = sum(4 * high * wide for high, wide in sizes)
    return {"input_ids": ids, "pixel_values": torch.randn(patches, 24),
            "image_grid_thw": torch.tensor([[1, 2 * high, 2 * wide] for high, wide in sizes]),
            "mm_token_type_ids": (ids == 60).int()}  # fmt: skip


def falcon():
    return hf.FalconForCausalLM(hf.FalconConfig(**SMALL))


def deberta():
    return hf.DebertaV2Model(hf.DebertaV2Config(**SMALL, intermediate_size=32))


FAMILIES = {
    made.__name__: made
    for made in (
        bert, gpt2, llama, mistral, qwen3, gemma2, gemma3, gpt_oss, llama4, deepseek_v3, opt, phi3,
        gpt_neox, modernbert, distilbert, clip_text, vit, t5, bart, whisper,
    )
}  # fmt: skip

READERS = ("bert", "modernbert", "distilbert", "clip_text", "vit")
WRITERS = {name: made for name, made in FAMILIES.items() if name not in READERS}


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
    if isinstance(model, hf.ViTModel):
        return {"pixel_values": torch.randn(len(lengths), 3, 8, 8)}
    given = {"input_ids": ids, "attention_mask": mask}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = torch.randint(3, 61, (len(lengths), 5))
    return given
