"""Reference tensors of lesson 24, windows: PyTorch's roll, and the partition and mask of the Swin code.

Run: python tests/golden/lessons/make_windows.py   (needs pillow beside torch and numpy)
"""

import math

import numpy
import torch
from torch.nn import functional

from common import cell, normal_matrix, tensor, write
from pictures import harbour

torch.set_num_threads(1)
SEED = 7


def small(side):
    """The picture that the notebook draws, [3, side, side]."""
    large = harbour()[None].double()
    return functional.interpolate(large, (side, side), mode="bilinear", align_corners=False, antialias=True)[0].float()


def drawn(name, rows, columns):
    """A matrix of standard deviation 1/sqrt(columns)."""
    return normal_matrix(SEED, name, rows, columns, float(numpy.float32(1) / numpy.sqrt(numpy.float32(columns))))


def partition(x, side):
    """[H, W, C] -> [N, side, side, C], as `window_partition` of the Swin code."""
    h, w, c = x.shape
    x = x.view(h // side, side, w // side, side, c)
    return x.permute(0, 2, 1, 3, 4).reshape(-1, side, side, c)


def reverse(windows, side, h, w):
    """The inverse, as `window_reverse`."""
    x = windows.view(h // side, w // side, side, side, -1)
    return x.permute(0, 2, 1, 3, 4).reshape(h, w, -1)


def shift_mask(h, w, side, shift):
    """[N, M·M, M·M]: nine regions of the rolled map. `transformers` adds its -100 twice."""
    img_mask = torch.zeros(h, w, 1)
    if shift:
        parts = (slice(0, -side), slice(-side, -shift), slice(-shift, None))
        for count, (rows, columns) in enumerate((a, b) for a in parts for b in parts):
            img_mask[rows, columns] = count
    regions = partition(img_mask, side).view(-1, side * side)
    apart = regions[:, None] - regions[:, :, None]
    return 2 * apart.masked_fill(apart != 0, -100.0)


# The sizes of the model of swin-reach.
WIDTH, HEADS, BLOCKS, WINDOW, ACROSS, PATCH, INNER = 16, 2, 12, 4, 16, 4, 512


def position_bias(name, side):
    """[H, M·M, M·M]: 16 sigmoid(MLP(log-spaced offsets)), section 3.3 of Swin V2."""
    steps = torch.arange(-(side - 1), side, dtype=torch.float32)
    table = torch.stack(torch.meshgrid(steps, steps, indexing="ij"), dim=-1) / (side - 1) * 8
    table = torch.sign(table) * torch.log2(table.abs() + 1.0) / math.log2(8)
    hidden = functional.relu(table @ drawn(f"{name}.0.weight", INNER, 2).T)
    bias = (hidden @ drawn(f"{name}.2.weight", HEADS, INNER).T).view(-1, HEADS)
    place = torch.stack(torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")).flatten(1)
    offset = (place[:, :, None] - place[:, None, :]).permute(1, 2, 0) + side - 1
    index = offset[..., 0] * (2 * side - 1) + offset[..., 1]
    bias = bias[index.view(-1)].view(side * side, side * side, HEADS).permute(2, 0, 1)
    return 16 * torch.sigmoid(bias)


def parameters():
    """The matrices of each block, drawn from streams that have their names."""
    blocks = []
    for n in range(BLOCKS):
        name = f"swinv2.encoder.layers.0.blocks.{n}"
        own = f"{name}.attention.self"
        blocks.append(
            {
                "bias": position_bias(f"{own}.continuous_position_bias_mlp", WINDOW),
                "q": drawn(f"{own}.query.weight", WIDTH, WIDTH),
                "k": drawn(f"{own}.key.weight", WIDTH, WIDTH),
                "v": drawn(f"{own}.value.weight", WIDTH, WIDTH),
                "o": drawn(f"{name}.attention.output.dense.weight", WIDTH, WIDTH),
                "up": drawn(f"{name}.intermediate.dense.weight", 2 * WIDTH, WIDTH),
                "down": drawn(f"{name}.output.dense.weight", WIDTH, 2 * WIDTH),
            }
        )
    return blocks


def norm(x):
    return functional.layer_norm(x, x.shape[-1:], eps=1e-5)


def attention(windows, p, mask):
    """Scaled cosine attention, windows [N, M·M, C]; 1/tau is 10, as before training."""
    heads = lambda x: x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)
    q, k, v = (heads(windows @ p[part].T) for part in "qkv")
    scores = functional.normalize(q, dim=-1) @ functional.normalize(k, dim=-1).transpose(-2, -1)
    scores = scores * torch.exp(torch.clamp(torch.log(torch.tensor(10.0)), max=math.log(1 / 0.01)))
    scores = scores + p["bias"]
    if mask is not None:
        scores = scores + mask[:, None]
    x = torch.softmax(scores, dim=-1) @ v
    return x.transpose(1, 2).reshape(windows.shape) @ p["o"].T


def block(x, p, shift, mask):
    """x [H·W, C]."""
    map_ = torch.roll(x.view(ACROSS, ACROSS, WIDTH), (-shift, -shift), (0, 1))
    windows = partition(map_, WINDOW).view(-1, WINDOW * WINDOW, WIDTH)
    attended = attention(windows, p, mask).view(-1, WINDOW, WINDOW, WIDTH)
    attended = torch.roll(reverse(attended, WINDOW, ACROSS, ACROSS), (shift, shift), (0, 1))
    x = x + norm(attended.reshape(-1, WIDTH))
    return x + norm(functional.gelu(x @ p["up"].T) @ p["down"].T)


def outputs(image, kind, blocks):
    """The tokens before the first block and after each one."""
    e = drawn("swinv2.embeddings.patch_embeddings.projection.weight", WIDTH, 3 * PATCH * PATCH)
    x = norm(functional.unfold(image[None], PATCH, stride=PATCH)[0].T @ e.T)
    found = [x]
    for n, p in enumerate(blocks):
        shift = WINDOW // 2 if n % 2 and kind != "fixed" else 0
        mask = shift_mask(ACROSS, ACROSS, WINDOW, shift) if shift and kind == "shifted" else None
        x = block(x, p, shift, mask)
        found.append(x)
    return found


def swin_reach(blocks, chosen=119, shown=BLOCKS, forget=False):
    image = small(ACROSS * PATCH)
    other = image.clone()
    rows, columns = (slice(n * PATCH, (n + 1) * PATCH) for n in divmod(chosen, ACROSS))
    other[:, rows, columns] = 1 - other[:, rows, columns]
    neighbour = chosen - 1 if chosen % ACROSS == ACROSS - 1 else chosen + 1
    tensors = {"neighbour": tensor(float(neighbour), 0)}
    for name, kind in [("fixed", "fixed"), ("shifted", "unmasked" if forget else "shifted")]:
        pairs = list(zip(outputs(image, kind, blocks), outputs(other, kind, blocks)))
        counts = [float((a != b).any(dim=1).sum()) for a, b in pairs]
        first, second = pairs[shown]
        tensors[f"{name}.count"] = tensor(counts, 0)
        tensors[f"{name}.now"] = tensor(counts[shown], 0)
        tensors[f"{name}.token"] = tensor(first[chosen], 2e-5)
        # Of a token that differs, a number or two may round to the same bits in one of the programs.
        share = (first != second).float().mean(dim=1).view(ACROSS, ACROSS)
        tensors[f"{name}.changed"] = tensor(share, 0.2)
    given = {"chosen": chosen, "blocks": shown, "forget": forget}
    usual = {"chosen": 119, "blocks": BLOCKS, "forget": False}
    return cell("swin-reach", tensors, {name: x for name, x in given.items() if x != usual[name]})


def window_cost(side=256, patch=4, window=8):
    """Windows and pairs counted on maps that PyTorch cuts and fills up."""
    found = {name: [] for name in ["side", "width", "windows", "all", "pairs", "ratio"]}
    at, width = -(-side // patch), 96
    for n in range(4):
        m = min(window, at)
        fill = -at % m
        cut = partition(functional.pad(torch.zeros(1, at, at), (0, fill, 0, fill))[0, :, :, None], m)
        found["side"].append(at)
        found["width"].append(width << n)
        found["windows"].append(cut.shape[0])
        found["all"].append(at**4)
        found["pairs"].append(cut.numel() * m * m)
        found["ratio"].append(at**4 / (cut.numel() * m * m))
        at = -(-at // 2)
    tensors = {name: tensor(torch.tensor(x, dtype=torch.float64), 1e-6 if name == "ratio" else 0) for name, x in found.items()}
    given = {"side": side, "patch": patch, "window": window}
    usual = {"side": 256, "patch": 4, "window": 8}
    return cell("window-cost", tensors, {name: x for name, x in given.items() if x != usual[name]})


STEPS = ["the picture", "rolled", "cut into windows", "masked", "rolled back"]


def cyclic_shift(step, window=4, shift=2, chosen=63, side=8):
    numbers = torch.arange(side * side, dtype=torch.float32).view(side, side, 1)
    rolled = torch.roll(numbers, (-shift, -shift), (0, 1))
    windows = partition(rolled, window).view(-1, window * window)
    number, query = (int(n[0]) for n in torch.where(windows == chosen))
    mask = shift_mask(side, side, window, shift)[number]
    visible = mask[query] == 0
    is_rolled = STEPS.index(step) in (1, 2, 3)
    order = (rolled if is_rolled else numbers).flatten()
    lit = {2: windows[number], 3: windows[number][visible], 4: windows[number][visible]}.get(STEPS.index(step), [])
    seen = torch.zeros(side * side)
    for patch in lit:
        seen[order == patch] = 1
    tensors = {
        "seen": tensor(seen.view(side, side), 0),
        "order": tensor(order, 0),
        "tokens": tensor(windows[number], 0),
        "mask": tensor(mask, 0),
        "visible": tensor(float(visible.sum()), 0),
        "groups": tensor(float(len(torch.unique(mask, dim=0))), 0),
        "number": tensor(float(number), 0),
        "query": tensor(float(query), 0),
    }
    given = {"step": step, "window": str(window), "shift": shift, "chosen": chosen}
    usual = {"step": STEPS[0], "window": "4", "shift": 2, "chosen": 63}
    return cell("cyclic-shift", tensors, {name: x for name, x in given.items() if x != usual[name]})


def patch_merging(chosen=27, width=4, side=16):
    """As `PatchMerging` of the Swin V2 code: four strided slices, a linear layer without bias, a norm."""
    columns = functional.unfold(small(side * 4)[None], 4, stride=4)[0].T
    x = (columns.double() @ drawn("patch_embedding", width, 48).double().T).view(side, side, width)
    four = [x[0::2, 0::2], x[1::2, 0::2], x[0::2, 1::2], x[1::2, 1::2]]
    gathered = torch.cat(four, dim=-1).view(-1, 4 * width)
    reduction = drawn("reduction", 2 * width, 4 * width)
    reduced = gathered @ reduction.double().T
    merged = norm(reduced)
    tensors = {
        "four": tensor(gathered[chosen].view(4, width), 1e-5),
        "gathered": tensor(gathered[chosen], 1e-5),
        "reduced": tensor(reduced[chosen], 1e-5),
        "merged": tensor(merged[chosen], 1e-5),
        "numbers": tensor(float(x.numel()), 0),
        "numbers.merged": tensor(float(merged.numel()), 0),
        "parameters": tensor(float(reduction.numel()), 0),
    }
    given = {"chosen": chosen, "width": width}
    usual = {"chosen": 27, "width": 4}
    return cell("patch-merging", tensors, {name: x for name, x in given.items() if x != usual[name]})


def cosine_scores(length=1.0, tau=0.1):
    q = torch.tensor([[1.0, 0.4]]) * length
    k = torch.tensor([[0.9, 0.1], [0.8, 0.9], [0.2, 1.0], [-0.7, 0.3]]) * length
    dot = (q.double() @ k.double().T) / math.sqrt(2)
    cosine = functional.cosine_similarity(q.double(), k.double()) / max(tau, 0.01)
    distance = torch.arange(16, dtype=torch.float64)
    coordinate = torch.log2(8 * distance / 7 + 1) / math.log2(8)
    tensors = {"log": tensor(coordinate, 1e-6), "linear": tensor(distance / 7, 1e-8)}
    for name, scores in [("dot", dot), ("cosine", cosine[None])]:
        weights = torch.softmax(scores, dim=-1)
        tensors[f"{name}.scores"] = tensor(scores, 1e-5 * max(1, length * length))
        tensors[f"{name}.weights"] = tensor(weights, 1e-4 if length > 1 or tau < 0.1 else 1e-6)
        tensors[f"{name}.largest"] = tensor(weights.max(), 1e-4 if length > 1 or tau < 0.1 else 1e-6)
    given = {"length": length, "tau": tau}
    return cell("cosine-scores", tensors, {name: x for name, x in given.items() if x != {"length": 1.0, "tau": 0.1}[name]})


drawn_blocks = parameters()
write(
    __file__,
    "windows",
    [
        swin_reach(drawn_blocks),
        swin_reach(drawn_blocks, chosen=0, shown=2),
        swin_reach(drawn_blocks, chosen=0, shown=2, forget=True),
        window_cost(),
        window_cost(side=1000, patch=7, window=6),
        *[cyclic_shift(step) for step in STEPS],
        cyclic_shift("masked", shift=1, chosen=54),
        cyclic_shift("rolled back", window=2, shift=1, chosen=0),
        patch_merging(),
        patch_merging(chosen=63, width=8),
        cosine_scores(),
        cosine_scores(length=30.0, tau=0.02),
    ],
)
