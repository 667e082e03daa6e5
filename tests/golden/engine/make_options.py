"""Logits of small decoders of every architecture and option that a config.json may have, from Hugging Face transformers.

    python tests/golden/engine/make_options.py

(needs torch, transformers, safetensors and numpy; writes options.json beside this file). Each model
is saved as transformers saves it and filled by the formula of `reference/make_reference.py`, its
matrices eight times as large, so that its attention is not flat; then it is read again from those
files and computes in float64. What is stored: its config.json, the names and shapes of its file, ids
and logits. `crates/engine/tests/options.rs` builds the same files and compares.
"""

import json
import pathlib
import sys
import tempfile

import numpy
import torch
import transformers as hf
from safetensors import safe_open
from safetensors.torch import save_file

import make_engine

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "reference"))
from make_reference import fill  # noqa: E402

SEED = 3
GAIN = 8
# A text within a window of four, past it, and past an original context of eight.
IDS = [3, 16, 4, 1, 15, 9, 2, 6, 5, 3, 5, 8]

SMALL = dict(
    vocab_size=17, hidden_size=16, intermediate_size=20, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32,
    bos_token_id=0, eos_token_id=1, pad_token_id=None, attn_implementation="eager",
)
GPT2 = dict(vocab_size=17, n_embd=16, n_layer=2, n_head=4, n_positions=32, bos_token_id=0, eos_token_id=1, attn_implementation="eager")
ROPE = dict(rope_theta=100.0)
# One divisor for each of the two planes.
LONG = dict(rope_type="longrope", long_factor=[1.5, 4.0], short_factor=[1.0, 1.25], **ROPE)


def llama(**options):
    return hf.LlamaForCausalLM(hf.LlamaConfig(**{**SMALL, **options}))


def rope(**options):
    return llama(rope_parameters={**ROPE, **options})


def mistral(**options):
    return hf.MistralForCausalLM(hf.MistralConfig(**{**SMALL, "head_dim": 4, "rope_parameters": ROPE, **options}))


def mixtral(**options):
    return hf.MixtralForCausalLM(hf.MixtralConfig(**{**SMALL, "head_dim": 4, "num_local_experts": 3, "rope_parameters": ROPE, **options}))


def qwen2(**options):
    return hf.Qwen2ForCausalLM(hf.Qwen2Config(**{**SMALL, "rope_parameters": ROPE, **options}))


# Eight planes, of which the ramp has several between its ends.
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=64)


def yarn(**options):
    return llama(head_dim=16, rope_parameters={**ROPE, **YARN, **options})


CASES = {
    "gpt2": lambda: hf.GPT2LMHeadModel(hf.GPT2Config(**GPT2)),
    "llama": lambda: rope(),
    "llama, tied": lambda: llama(rope_parameters=ROPE, tie_word_embeddings=True),
    "llama, head_dim": lambda: llama(rope_parameters=ROPE, head_dim=6),
    "llama, attention_bias": lambda: llama(rope_parameters=ROPE, attention_bias=True),
    "llama, mlp_bias": lambda: llama(rope_parameters=ROPE, mlp_bias=True),
    "llama, linear": lambda: rope(rope_type="linear", factor=4.0),
    "llama, dynamic": lambda: rope(rope_type="dynamic", factor=4.0),
    "llama, llama3": lambda: rope(rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16),
    "llama, yarn": lambda: yarn(),
    "llama, yarn, betas": lambda: yarn(beta_fast=8.0, beta_slow=2.0),
    "llama, yarn, betas, not truncated": lambda: yarn(beta_fast=8.0, beta_slow=2.0, truncate=False),
    "llama, yarn, a ramp without length": lambda: yarn(original_max_position_embeddings=6),
    "llama, yarn, mscale": lambda: yarn(mscale=1.0, mscale_all_dim=0.5),
    "llama, yarn, attention_factor": lambda: yarn(attention_factor=1.5),
    "llama, longrope, short text": lambda: rope(**LONG, factor=2.0, original_max_position_embeddings=16),
    "llama, longrope, long text": lambda: rope(**LONG, original_max_position_embeddings=8),
    "llama, longrope, attention_factor": lambda: rope(**LONG, attention_factor=1.25, original_max_position_embeddings=8),
    "mistral": lambda: mistral(sliding_window=None),
    "mistral, sliding_window": lambda: mistral(sliding_window=4),
    "mixtral": lambda: mixtral(sliding_window=None),
    "mixtral, sliding_window": lambda: mixtral(sliding_window=3),
    "qwen2": lambda: qwen2(sliding_window=4),
    "qwen2, max_window_layers": lambda: qwen2(sliding_window=4, use_sliding_window=True, max_window_layers=1),
    "qwen2, layer_types": lambda: qwen2(sliding_window=3, use_sliding_window=True, layer_types=["sliding_attention", "full_attention"]),
}


def case(model):
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        path = pathlib.Path(folder) / "model.safetensors"
        with safe_open(path, "pt") as file:
            shapes = {name: file.get_slice(name).get_shape() for name in sorted(file.keys())}
        gain = lambda shape: numpy.float32(GAIN if len(shape) > 1 else 1)
        tensors = {name: torch.from_numpy(fill(name, shape, SEED) * gain(shape)) for name, shape in shapes.items()}
        save_file(tensors, path, metadata={"format": "pt"})
        config = json.loads((pathlib.Path(folder) / "config.json").read_text())
        # The experts' fast path has no float64.
        eager = dict(experts_implementation="eager") if "num_local_experts" in config else {}
        model = type(model).from_pretrained(folder, dtype=torch.float64, attn_implementation="eager", **eager).eval()
    with torch.no_grad():
        logits = model(torch.tensor([IDS]), use_cache=False).logits[0]
    return {"config": config, "shapes": shapes, "logits": make_engine.encoded(logits)}


if __name__ == "__main__":
    header = {
        "script": "tests/golden/engine/make_options.py",
        "torch": torch.__version__,
        "transformers": hf.__version__,
        "numpy": numpy.__version__,
        "seed": SEED,
        "precision": "parameters in float32, computed in float64, rotary angles in float32 as transformers has them; 9 digits",
    }
    head = {"header": header, "gain": GAIN, "ids": IDS}
    lines = [f"    {json.dumps(name)}: {json.dumps(case(make()))}" for name, make in CASES.items()]
    text = json.dumps(head, indent=2).removesuffix("\n}") + ',\n  "cases": {\n' + ",\n".join(lines) + "\n  }\n}\n"
    (HERE / "options.json").write_text(text)
