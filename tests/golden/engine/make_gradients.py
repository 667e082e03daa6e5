"""Gradients of a Transformer, a GRU step and a patch embedding, and steps of AdamW, from PyTorch.

    python tests/golden/engine/make_gradients.py        (needs torch and numpy; writes gradients.json beside this file)

As in make_engine.py: float32 inputs, computed in float64. `crates/engine/tests/grad_torch.rs` reads them.
"""

import math
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F

import make_engine
from make_recurrent import exact, state

SEED = 20260711


def with_gradients(module, loss):
    """All parameters by their names, and the gradient of each behind `grad.`."""
    module.zero_grad()
    loss.backward()
    named = dict(module.named_parameters())
    gradients = {f"grad.{name}": parameter.grad.clone() for name, parameter in named.items()}
    return {**state(module), **gradients, "loss": loss.detach().reshape(1)}


class Translator(nn.Module):
    def __init__(self, vocabulary, width, heads, inner):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.transformer = nn.Transformer(width, heads, 1, 1, inner, dropout=0.0, batch_first=True)
        # The paper has no norms after the stacks.
        self.transformer.encoder.norm = self.transformer.decoder.norm = None

    def embed(self, ids):
        width = self.embedding.embedding_dim
        places = torch.arange(ids.shape[1]).double()[:, None]
        angles = places / 10000.0 ** (torch.arange(0, width, 2).double() / width)
        encoding = torch.stack([angles.sin(), angles.cos()], -1).reshape(ids.shape[1], width)
        return self.embedding(ids) * math.sqrt(width) + encoding

    def forward(self, source, source_pad, target, target_pad):
        causal = torch.ones(target.shape[1], target.shape[1]).triu(1).bool()
        y = self.transformer(
            self.embed(source), self.embed(target), tgt_mask=causal, src_key_padding_mask=source_pad,
            tgt_key_padding_mask=target_pad, memory_key_padding_mask=source_pad
        )
        return F.linear(y, self.embedding.weight)


def transformer():
    """A batch with padding, a position that does not count, label smoothing."""
    model = exact(Translator(7, 8, 2, 12))
    source = torch.tensor([[3, 1, 4, 1], [5, 2, 0, 0]])
    target = torch.tensor([[0, 5, 2], [0, 6, 0]])
    answers = torch.tensor([[5, 2, 1], [6, -100, -100]])
    source_pad = torch.tensor([[False] * 4, [False, False, True, True]])
    target_pad = torch.tensor([[False] * 3, [False, False, True]])
    logits = model(source, source_pad, target, target_pad)
    loss = F.cross_entropy(logits.reshape(-1, 7), answers.reshape(-1), label_smoothing=0.1)
    return with_gradients(model, loss)


def gru_step():
    cell = exact(nn.GRUCell(4, 6))
    x, h, weights = make_engine.draw(3, 4), make_engine.draw(3, 6), make_engine.draw(3, 6)
    return {**with_gradients(cell, (cell(x, h) * weights).sum()), "x": x, "h": h, "weights": weights}


class Patches(nn.Module):
    def __init__(self, width, patch, count):
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, stride=patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + count, width))

    def forward(self, images):
        x = self.proj(images).flatten(2).transpose(1, 2)
        return torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embed


def patches():
    model = exact(Patches(5, 2, 4))
    images, weights = make_engine.draw(2, 3, 4, 4), make_engine.draw(2, 5, 5)
    loss = (torch.tanh(model(images)) * weights).sum()
    return {**with_gradients(model, loss), "images": images, "weights": weights}


def adamw():
    """Gradients that are clipped and used; matrices decay, the others do not."""
    w, v = nn.Parameter(make_engine.draw(3, 4)), nn.Parameter(make_engine.draw(4))
    start = {"w0": w.detach().clone(), "v0": v.detach().clone()}
    groups = [{"params": [w], "weight_decay": 0.1}, {"params": [v], "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=0.02, betas=(0.9, 0.98), eps=1e-6)
    gradients, norms = {}, []
    for n in range(5):
        w.grad, v.grad = make_engine.draw(3, 4), make_engine.draw(4)
        gradients |= {f"grad{n}.w0": w.grad.clone(), f"grad{n}.v0": v.grad.clone()}
        norms.append(nn.utils.clip_grad_norm_([w, v], 3.5))
        optimiser.step()
    end = {"end.w0": w.detach(), "end.v0": v.detach()}
    return {**start, **gradients, "norms": torch.stack(norms), **end}


if __name__ == "__main__":
    cases = {}
    for make in [transformer, gru_step, patches, adamw]:
        torch.manual_seed(SEED)
        cases[make.__name__] = make()
    make_engine.SEED = SEED
    make_engine.write("gradients", cases)
    path = pathlib.Path(__file__).parent / "gradients.json"
    path.write_text(path.read_text().replace("engine/make_engine.py", "engine/make_gradients.py"))
