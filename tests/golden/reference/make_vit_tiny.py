"""What the heads of ViT-Tiny/16 attend to in a photograph, and what it answers after each block and without each head:
the tests of cells on opened models of pictures compare with these numbers (crates/cells/tests/opened_pictures.rs).

    python tests/golden/reference/make_vit_tiny.py SHARED

SHARED is the folder that docs/reference-data.md describes: weights and picture are read from its data/vit-tiny-patch16-224.
Written from the papers and the names in the file, in float64; nothing here calls the engine.
"""

import json
import math
import pathlib
import sys

import numpy
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import load_file

HERE = pathlib.Path(__file__).resolve().parent
PICTURE, PATCH, HEADS, LAYERS, EPS = "chelsea-224.png", 16, 3, 12, 1e-6
# The patch whose row is stored for these layers, counted from 0: row 6, column 7.
QUERY, OF_QUERY = 6 * 14 + 7, (0, 5, 11)
DIGITS = 7


class VitTiny:
    def __init__(self, weights):
        self.weights = {name: tensor.double() for name, tensor in weights.items()}

    def layer(self, x, name):
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], EPS)

    def forward(self, image, off=None):
        """The residual stream after the embedding and after each block, and the weights [L, H, T, T]; one head may be off."""
        patches = F.conv2d(image[None], self.weights["patch_embed.proj.weight"], self.weights["patch_embed.proj.bias"], stride=PATCH)
        x = torch.cat([self.weights["cls_token"][0], patches[0].flatten(1).T]) + self.weights["pos_embed"][0]
        streams, all_weights = [x], []
        for n in range(LAYERS):
            q, k, v = self.layer(self.norm(x, f"blocks.{n}.norm1"), f"blocks.{n}.attn.qkv").chunk(3, dim=-1)
            q, k, v = (t.unflatten(1, (HEADS, -1)).transpose(0, 1) for t in (q, k, v))
            weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), dim=-1)
            heads = weights @ v
            if off is not None and off // HEADS == n:
                heads[off % HEADS] = 0
            x = x + self.layer(heads.transpose(0, 1).flatten(1), f"blocks.{n}.attn.proj")
            x = x + self.layer(F.gelu(self.layer(self.norm(x, f"blocks.{n}.norm2"), f"blocks.{n}.mlp.fc1")), f"blocks.{n}.mlp.fc2")
            streams.append(x)
            all_weights.append(weights)
        return streams, torch.stack(all_weights)

    def logits(self, stream):
        return self.layer(self.norm(stream, "norm")[0], "head")


def distances(weights, side=14):
    """The mean distance in pixels at which each head attends, over the patches."""
    places = torch.stack(torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij"), dim=-1).view(-1, 2).double()
    apart = PATCH * torch.cdist(places, places)
    on_patches = weights[:, :, 1:, 1:]
    return ((on_patches * apart).sum(-1) / on_patches.sum(-1)).mean(-1)


def rounded(tensor):
    return [round(x, DIGITS) for x in tensor.flatten().tolist()]


def main(shared):
    folder = pathlib.Path(shared) / "data/vit-tiny-patch16-224"
    model = VitTiny(load_file(folder / "model.safetensors"))
    picture = numpy.asarray(Image.open(folder / "reference" / PICTURE).convert("RGB"))
    image = (torch.from_numpy(picture.copy()).double().permute(2, 0, 1) / 255 - 0.5) / 0.5
    with torch.no_grad():
        streams, weights = model.forward(image)
        rolled = torch.eye(weights.shape[-1], dtype=torch.float64)
        for layer in weights:
            rolled = (layer.mean(0) + torch.eye(len(rolled))) / 2 @ rolled
        lens = torch.stack([torch.softmax(model.logits(stream), dim=-1) for stream in streams])
        top = lens.topk(3, dim=-1)
        whole = model.logits(streams[-1])
        classes = whole.topk(5).indices
        changes = [(model.logits(model.forward(image, off)[0][-1]) - whole)[classes] for off in range(LAYERS * HEADS)]
    found = {
        "script": "tests/golden/reference/make_vit_tiny.py",
        "torch": torch.__version__,
        "picture": PICTURE,
        "class_token": rounded(weights[:, :, 0]),
        "query": QUERY,
        "of_query": list(OF_QUERY),
        "patch": rounded(weights[list(OF_QUERY), :, 1 + QUERY]),
        "rollout": rounded(rolled[0]),
        "distances": rounded(distances(weights)),
        "lens_classes": top.indices.flatten().tolist(),
        "lens_probabilities": rounded(top.values),
        "classes": classes.tolist(),
        "changes": rounded(torch.stack(changes)),
    }
    (HERE / "vit-tiny.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
