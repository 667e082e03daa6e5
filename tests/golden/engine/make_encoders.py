"""Reference values for what the full-size encoder files leave out, from PyTorch and Hugging Face transformers, at toy sizes.

    python tests/golden/engine/make_encoders.py        (needs torch, transformers and numpy; writes encoders.json beside this file)

A batch of BERT with padding and token types; ViT on a picture that is not square; Swin V2 with biases trained at another window;
stretched position tables; ImageGPT. As in make_engine.py: float32 inputs, computed in float64. `crates/engine/tests/encoders.rs`
reads them.
"""

import pathlib

import torch
import torch.nn.functional as F
import transformers as hf

import make_engine

SEED = 20201022


def exact(model):
    """The model with normal parameters that float32 holds exactly, in float64, and all of them by their names."""
    model = model.double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(make_engine.draw(*parameter.shape, scale=0.5))
    return model, {name: parameter.detach() for name, parameter in model.named_parameters()}


def bert():
    sizes = dict(vocab_size=13, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12, max_position_embeddings=7)
    model, named = exact(hf.BertForMaskedLM(hf.BertConfig(**sizes, attn_implementation="eager")))
    ids = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0], [0, 0, 8, 7, 12]])
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 0, 1, 1, 1]])
    types = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1]])
    hidden = model.bert(ids, attention_mask=mask, token_type_ids=types).last_hidden_state
    logits = model(ids, attention_mask=mask).logits
    keep = mask[:, :, None].double()
    sentences = F.normalize((model.bert(ids, attention_mask=mask).last_hidden_state * keep).sum(1) / keep.sum(1), dim=-1)
    named.pop("cls.predictions.decoder.weight", None)
    named.pop("cls.predictions.decoder.bias", None)
    return {**named, "ids": ids, "mask": mask, "types": types, "hidden": hidden * keep, "logits": logits * keep, "sentences": sentences}


def vit():
    sizes = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=12, patch_size=2, image_size=6, num_labels=3)
    model, named = exact(hf.ViTForImageClassification(hf.ViTConfig(**sizes)))
    image = make_engine.draw(3, 8, 11)
    return {**named, "image": image, "logits": model(image[None], interpolate_pos_encoding=True).logits[0]}


def swin():
    sizes = dict(embed_dim=8, depths=[2, 1], num_heads=[2, 4], window_size=4, pretrained_window_sizes=[6, 3], patch_size=2, image_size=16, num_labels=3)
    model, named = exact(hf.Swinv2ForImageClassification(hf.Swinv2Config(**sizes, mlp_ratio=2.0)))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("logit_scale"):
                parameter += torch.arange(len(parameter)).double()[:, None, None] * 4  # Some above the limit of ln 100.
    image = make_engine.draw(3, 16, 16)
    return {**named, "image": image, "logits": model(image[None]).logits[0]}


def bicubic():
    table = make_engine.draw(5 * 4, 3)
    grid = table.reshape(1, 5, 4, 3).permute(0, 3, 1, 2)
    sizes = {"larger": (7, 9), "smaller": (2, 3), "mixed": (3, 6)}
    stretched = {name: F.interpolate(grid, size=size, mode="bicubic", align_corners=False) for name, size in sizes.items()}
    return {"table": table, **{name: found[0].permute(1, 2, 0) for name, found in stretched.items()}}


def image_gpt():
    sizes = dict(vocab_size=9, n_positions=16, n_embd=8, n_layer=2, n_head=2)
    model, named = exact(hf.ImageGPTForCausalImageModeling(hf.ImageGPTConfig(**sizes, attn_implementation="eager")))
    ids = torch.tensor([8, 3, 1, 4, 1, 5])
    return {**named, "ids": ids, "logits": model(ids[None]).logits[0]}


if __name__ == "__main__":
    cases = {}
    for make in [bert, vit, swin, bicubic, image_gpt]:
        torch.manual_seed(SEED)
        with torch.no_grad():
            cases[make.__name__] = make()
    make_engine.SEED = SEED
    make_engine.write("encoders", cases)
    path = pathlib.Path(__file__).parent / "encoders.json"
    path.write_text(path.read_text().replace("engine/make_engine.py", "engine/make_encoders.py"))
