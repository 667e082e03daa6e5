"""Reference values for the engine's layers, from PyTorch.

    python tests/golden/engine/make_engine.py        (needs torch and numpy; writes *.json beside this file)

Inputs are float32 numbers. PyTorch computes in float64 from exactly those, so that the values are right to the last float32
digit, and they are stored with nine significant digits, which is what a float32 needs. `crates/engine/tests/golden.rs` reads
them. Minus infinity is written "-inf", which JSON has no number for.
"""

import json
import math
import pathlib

import numpy
import torch
import torch.nn.functional as F

SEED = 20170612
HERE = pathlib.Path(__file__).parent


def draw(*shape, scale=1.0):
    """Normal numbers that a float32 holds exactly, as float64."""
    return (torch.randn(*shape, dtype=torch.float32) * scale).double()


def encoded(value):
    """A tensor as shape and flat list; numbers with nine significant digits."""
    tensor = torch.as_tensor(value)

    def number(x):
        if isinstance(x, (bool, int)):
            return x
        return "-inf" if x == -math.inf else float(f"{x:.9g}")

    return {"shape": list(tensor.shape), "data": [number(x) for x in tensor.detach().flatten().tolist()]}


def write(name, cases):
    header = {
        "script": "tests/golden/engine/make_engine.py",
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "seed": SEED,
        "precision": "float32 inputs, computed in float64, stored with 9 digits",
    }
    lines = []
    for case, tensors in cases.items():
        inner = ",\n".join(f"      {json.dumps(key)}: {json.dumps(encoded(value))}" for key, value in tensors.items())
        lines.append(f"    {json.dumps(case)}: {{\n{inner}\n    }}")
    text = f'{{\n  "header": {json.dumps(header)},\n  "cases": {{\n' + ",\n".join(lines) + "\n  }\n}\n"
    (HERE / f"{name}.json").write_text(text)


def linear():
    x, weight, bias = draw(5, 7), draw(3, 7), draw(3)
    return {
        "linear": {"x": x, "weight": weight, "bias": bias, "y": F.linear(x, weight, bias)},
        "project": {"x": x, "w": weight.T.contiguous(), "y": x @ weight.T},
    }


def softmax():
    x = draw(9, scale=2.0)
    rows = draw(4, 6, scale=3.0)
    rows[1, 2:] = -math.inf
    rows[2] += 1000.0
    rows = rows.float().double()
    jacobian = torch.autograd.functional.jacobian(lambda t: torch.softmax(t, -1), x)
    weights = torch.softmax(x, -1)
    tau = torch.tensor([0.25, 1.0, 4.0], dtype=torch.float64)
    return {
        "vector": {
            "x": x,
            "weights": weights,
            "log_weights": torch.log_softmax(x, -1),
            "jacobian": jacobian,
            "entropy": torch.distributions.Categorical(probs=weights).entropy().reshape(1),
        },
        "rows": {"x": rows, "weights": torch.softmax(rows, -1)},
        "temperature": {"x": x, "tau": tau, "weights": torch.softmax(x / tau[:, None], -1)},
    }


def attention():
    tokens, sources, width, width_v = 5, 7, 6, 4
    q, k, v = draw(tokens, width), draw(sources, width), draw(sources, width_v)
    visible = torch.rand(tokens, sources) > 0.4
    visible[:, 0] = True
    additive = draw(tokens, sources)
    hidden = torch.zeros(tokens, sources, dtype=torch.float64).masked_fill(~visible, -math.inf)
    scores = q @ k.T / math.sqrt(width)
    cases = {}
    for name, mask, masked in [
        ("none", None, scores),
        ("boolean", visible, scores.masked_fill(~visible, -math.inf)),
        ("additive", additive, scores + additive),
        ("minus_infinity", hidden, scores + hidden),
    ]:
        weights = torch.softmax(masked, -1)
        output = F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=mask)[0]
        assert torch.allclose(weights @ v, output, atol=1e-12)
        cases[name] = {"q": q, "k": k, "v": v, "scores": scores, "masked": masked, "weights": weights, "output": output}
        if mask is not None:
            cases[name]["mask"] = mask
    x, source = draw(4, 6), draw(3, 6)
    w_q, w_k, w_v = draw(6, 5, scale=0.5), draw(6, 5, scale=0.5), draw(6, 2, scale=0.5)
    for name, other in [("self", x), ("cross", source)]:
        q, k, v = x @ w_q, other @ w_k, other @ w_v
        output = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
        cases[name] = {"x": x, "source": other, "w_q": w_q, "w_k": w_k, "w_v": w_v, "q": q, "k": k, "v": v, "output": output}
    return cases


def attention_parts(module, x, mask):
    """Queries, keys and values by head, and the weights by head, of a torch.nn.MultiheadAttention on one sequence."""
    heads, width = module.num_heads, module.embed_dim
    projected = F.linear(x, module.in_proj_weight, module.in_proj_bias).split(width, -1)
    q, k, v = (t.reshape(-1, heads, width // heads).transpose(0, 1) for t in projected)
    output, weights = module(x[None], x[None], x[None], attn_mask=mask, average_attn_weights=False)
    return q, k, v, weights[0], output[0]


def exact_parameters(module, scale):
    """Parameters that a float32 holds exactly, norms and biases away from their start values too."""
    for name, parameter in sorted(module.named_parameters()):
        start = 1.0 if "norm" in name and name.endswith("weight") else 0.0
        parameter.data = (start + draw(*parameter.shape, scale=scale)).float().double()


def multi_head():
    cases = {}
    x = draw(5, 8)
    causal = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    for name, bias, mask in [("plain", False, None), ("biased_causal", True, causal)]:
        module = torch.nn.MultiheadAttention(8, 2, bias=bias, batch_first=True, dtype=torch.float64)
        exact_parameters(module, 0.4)
        q, k, v, weights, output = attention_parts(module, x, mask)
        cases[name] = {
            "x": x,
            "in_proj_weight": module.in_proj_weight,
            "out_proj_weight": module.out_proj.weight,
            "q": q, "k": k, "v": v, "weights": weights, "heads": weights @ v, "output": output,
        }
        if bias:
            cases[name] |= {"in_proj_bias": module.in_proj_bias, "out_proj_bias": module.out_proj.bias}
    return cases


def norm():
    x, gamma, beta = (draw(4, 10) * 3 + 1).float().double(), draw(10), draw(10)
    table, ids = draw(6, 5), torch.tensor([3, 0, 5, 3])
    y = draw(3, 11, scale=2.0)
    return {
        "layer_norm": {"x": x, "gamma": gamma, "beta": beta, "y": F.layer_norm(x, (10,), gamma, beta, 1e-5)},
        "rms_norm": {"x": x, "gamma": gamma, "y": F.rms_norm(x, (10,), gamma, 1e-5)},
        "embedding": {"table": table, "ids": ids, "y": F.embedding(ids, table)},
        "activations": {"x": y, "relu": F.relu(y), "gelu": F.gelu(y)},
    }


def alibi_slopes(heads):
    """As in the ALiBi authors' repository (attention_with_linear_biases, get_slopes)."""

    def power_of_two(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(heads).is_integer():
        return power_of_two(heads)
    closest = 2 ** math.floor(math.log2(heads))
    return power_of_two(closest) + alibi_slopes(2 * closest)[0::2][: heads - closest]


def rotate_neighbours(x, positions, base):
    """Pairs as complex numbers, as in Llama's original code."""
    width = x.shape[-1]
    theta = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    turn = torch.polar(torch.ones(len(positions), width // 2, dtype=torch.float64), torch.outer(positions, theta))
    return torch.view_as_real(torch.view_as_complex(x.reshape(len(positions), -1, 2)) * turn).flatten(1)


def rotate_half(x, positions, base):
    """Halves, as in the Hugging Face code for Llama."""
    width = x.shape[-1]
    theta = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.cat([torch.outer(positions, theta)] * 2, -1)
    first, second = x.chunk(2, -1)
    return x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()


def position():
    tokens, width = 12, 10
    at = torch.arange(tokens, dtype=torch.float64)[:, None]
    frequency = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    table = torch.zeros(tokens, width, dtype=torch.float64)
    table[:, 0::2], table[:, 1::2] = torch.sin(at * frequency), torch.cos(at * frequency)

    learned, x = torch.nn.Embedding(9, 4, dtype=torch.float64), draw(6, 4)
    exact_parameters(learned, 1.0)

    by_offset = draw(7)
    offsets = (torch.arange(8)[None, :] - torch.arange(6)[:, None]).clamp(-3, 3) + 3

    distance = (torch.arange(6)[None, :] - torch.arange(6)[:, None]).abs().double()
    slopes = {f"slopes_{n}": torch.tensor(alibi_slopes(n), dtype=torch.float64) for n in (1, 8, 12)}

    rows, places = draw(5, 8), torch.tensor([0.0, 1.0, 2.5, 40.0, 3000.0], dtype=torch.float64)
    squeezed = places * (2048 / 8192)
    return {
        "sinusoidal": {"table": table},
        "learned": {"table": learned.weight, "x": x, "y": x + learned(torch.arange(6))},
        "relative": {"by_offset": by_offset, "bias": by_offset[offsets]},
        "alibi": slopes | {"bias": -0.25 * distance},
        "rotary": {
            "x": rows,
            "positions": places,
            "neighbours": rotate_neighbours(rows, places, 10000.0),
            "halves": rotate_half(rows, places, 10000.0),
            "squeezed_positions": squeezed,
            "interpolated": rotate_neighbours(rows, squeezed, 10000.0),
        },
    }


def conv():
    image, weight, bias = draw(3, 8, 9), draw(4, 3, 3, 3), draw(4)
    picture, patch_weight, patch_bias = draw(3, 8, 12), draw(5, 3, 4, 4, scale=0.2), draw(5)
    patches = F.unfold(picture[None], 4, stride=4)[0].T
    embedded = F.conv2d(picture[None], patch_weight, patch_bias, stride=4)[0]
    return {
        "strided": {"image": image, "weight": weight, "bias": bias, "y": F.conv2d(image[None], weight, bias, stride=2)[0]},
        "dense": {"image": image, "weight": weight, "y": F.conv2d(image[None], weight)[0]},
        "patch": {
            "image": picture,
            "weight": patch_weight,
            "bias": patch_bias,
            "patches": patches,
            "conv": embedded,
            "tokens": embedded.flatten(1).T,
        },
    }


def block():
    tokens, width, heads = 6, 8, 2
    layer = torch.nn.TransformerEncoderLayer(
        width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True, dtype=torch.float64
    )
    exact_parameters(layer, 0.3)
    seen = {}
    for name in ["norm1", "norm2", "linear1", "linear2"]:
        getattr(layer, name).register_forward_hook(lambda _, __, out, name=name: seen.__setitem__(name, out[0]))
    x, causal = draw(tokens, width), torch.triu(torch.ones(tokens, tokens, dtype=torch.bool), 1)
    output = layer(x[None], src_mask=causal)[0]
    q, k, v, weights, attended = attention_parts(layer.self_attn, seen["norm1"], causal)
    names = {name.replace(".", "_"): parameter for name, parameter in layer.named_parameters()}
    return {
        "pre_norm_causal": names
        | {
            "x": x,
            "norm_1": seen["norm1"],
            "attention.q": q,
            "attention.k": k,
            "attention.v": v,
            "attention.weights": weights,
            "attention.heads": weights @ v,
            "attention.output": attended,
            "residual_1": x + attended,
            "norm_2": seen["norm2"],
            "mlp.before": seen["linear1"],
            "mlp.inner": F.gelu(seen["linear1"]),
            "mlp.output": seen["linear2"],
            "output": output,
        }
    }


if __name__ == "__main__":
    for make in [linear, softmax, attention, multi_head, norm, position, conv, block]:
        # Each file has its own stream, so that a change in one leaves the others as they are.
        torch.manual_seed(SEED)
        write(make.__name__, make())
