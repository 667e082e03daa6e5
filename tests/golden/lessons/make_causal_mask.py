"""Reference tensors of lesson 08, the causal mask: PyTorch in f64, rounded at the end.

Run: python tests/golden/lessons/make_causal_mask.py
"""

import math

import torch
import torch.nn.functional as F

from common import cell, normal_matrix, tensor, word_ids, write
from trained import Gpt, Translator, split_heads

SENTENCE = "The cat sat on the mat".split()
TARGET = "Il gatto sedeva sul tappeto".split()
SEED = 7
TIGHT = 5e-6
DEEP = 1e-4


def sinusoid(length, width):
    """[T, C]: sines in the even columns, cosines in the odd ones (Vaswani et al. 2017, section 3.5)."""
    omega = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10000.0) / width))
    angles = torch.outer(torch.arange(length, dtype=torch.float64), omega)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(length, width)


def drawn(name, rows, cols, std):
    return normal_matrix(SEED, name, rows, cols, std).double()


def embedded(words, table, vocabulary, width):
    weights = drawn(table, vocabulary, width, 1.0)
    return F.embedding(torch.tensor(word_ids(words, vocabulary)), weights)


def attention(x_q, x_kv, prefix, visible=None):
    """Scores, masked scores, weights and output; the output by PyTorch's own attention."""
    w_q, w_k, w_v = (drawn(f"{prefix}{name}", 8, 8, 0.5) for name in ["w_q", "w_k", "w_v"])
    q, k, v = x_q @ w_q, x_kv @ w_k, x_kv @ w_v
    scores = q @ k.T / math.sqrt(8)
    masked = scores if visible is None else scores.masked_fill(~visible, -math.inf)
    output = F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=visible)[0]
    return scores, masked, torch.softmax(masked, dim=-1), output


def causal(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def editor(preset, visible):
    x = embedded(SENTENCE, "embedding", 1000, 8)
    scores, masked, weights, output = attention(x, x, "", visible)
    return cell(
        "mask-editor",
        {
            "mask": tensor(visible.double(), 0),
            "scores": tensor(scores, TIGHT),
            "masked": tensor(masked, TIGHT),
            "weights": tensor(weights, TIGHT),
            "output": tensor(output, 2e-5),
            "visible": tensor(visible.sum(dim=1), 0),
        },
        {"sentence": " ".join(SENTENCE), "preset": preset},
    )


def logits(words, mask):
    """A pre-norm decoder with PyTorch's functions: embedding and sines, two blocks, last norm, tied logits."""
    width, heads, vocabulary = 32, 4, 500
    embedding = drawn("embedding", vocabulary, width, 1.0)
    x = F.embedding(torch.tensor(word_ids(words, vocabulary)), embedding) + sinusoid(len(words), width)
    for n in range(2):
        name = f"blocks.{n}."
        w_q, w_k, w_v, w_o = (drawn(f"{name}attention.{w}", width, width, 1 / math.sqrt(width)) for w in ["w_q", "w_k", "w_v", "w_o"])
        normed = F.layer_norm(x, (width,))
        q, k, v = ((normed @ w).unflatten(1, (heads, -1)).transpose(0, 1) for w in [w_q, w_k, w_v])
        mixed = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=mask)[0]
        x = x + mixed.transpose(0, 1).flatten(1) @ w_o
        w_1 = drawn(f"{name}mlp.w_1", width, 4 * width, 1 / math.sqrt(width))
        w_2 = drawn(f"{name}mlp.w_2", 4 * width, width, 1 / math.sqrt(4 * width))
        x = x + F.gelu(F.layer_norm(x, (width,)) @ w_1) @ w_2
    return F.layer_norm(x, (width,)) @ embedding.T


def leak():
    changed = SENTENCE[:-1] + ["moon"]
    tensors = {}
    for name, mask in [("with", True), ("other", False)]:
        first, second = logits(SENTENCE, mask), logits(changed, mask)
        tensors[f"{name}.first"] = tensor(first[:, :16], DEEP)
        tensors[f"{name}.difference"] = tensor((second - first)[:, :16], DEEP)
        tensors[f"{name}.moved"] = tensor((second - first).abs().max(dim=1).values, DEEP)
        if mask:
            # In f64 and in 32 bits alike: not one bit of the five earlier rows.
            assert torch.equal(first[:-1], second[:-1])
            tensors["with.earlier"] = tensor(0.0, 0)
    inputs = {"model": "random", "sentence": " ".join(SENTENCE), "place": 6, "word": "moon"}
    return cell("leak-test", tensors, inputs)


def trained_leak():
    """tiny-gpt, whose pieces are these words; the row of the token that begins every text is left out."""
    gpt = Gpt()
    before = [gpt.end, *gpt.ids(" ".join(SENTENCE))]
    after = [gpt.end, *gpt.ids(" ".join(SENTENCE[:-1] + ["sun"]))]
    assert len(before) == len(after) == 7
    tensors = {}
    for name, mask in [("with", True), ("other", False)]:
        first, second = (gpt.forward(ids, mask)[1][1:] for ids in (before, after))
        tensors[f"{name}.first"] = tensor(first[:, :16], DEEP)
        tensors[f"{name}.difference"] = tensor((second - first)[:, :16], DEEP)
        tensors[f"{name}.moved"] = tensor((second - first).abs().max(dim=1).values, DEEP)
        if mask:
            tensors["with.earlier"] = tensor(float((first[:-1] != second[:-1]).sum()), 0)
    return cell("leak-test", tensors, {"sentence": " ".join(SENTENCE), "place": 6, "word": "sun"})


def mistaken(mistake):
    """An attention of all heads whose causal mask has a mistake."""

    def attend(q, k, v, heads, _visible):
        q, k, v = (split_heads(x, heads) for x in (q, k, v))
        scores = q @ k.transpose(1, 2)
        scale = 1 / math.sqrt(q.shape[2])
        pairs = torch.ones_like(scores[0], dtype=torch.bool)
        later = pairs.triu(1)
        if mistake == "one-too-far":
            weights = torch.softmax((scores * scale).masked_fill(pairs.triu(2), -math.inf), dim=-1)
        elif mistake == "transposed":
            weights = torch.softmax((scores * scale).masked_fill(pairs.tril(-1), -math.inf), dim=-1)
        elif mistake == "after-softmax":
            weights = torch.softmax(scores * scale, dim=-1).masked_fill(later, 0.0)
        else:
            weights = torch.softmax((scores + later.double() * -100) * scale, dim=-1)
        return {}, (weights @ v).transpose(0, 1).flatten(1)

    return attend


def mistaken_leak(mistake):
    gpt = Gpt()
    texts = (SENTENCE, SENTENCE[:-1] + ["sun"])
    first, second = (gpt.forward([gpt.end, *gpt.ids(" ".join(t))], attend=mistaken(mistake))[1][1:] for t in texts)
    tensors = {
        "other.first": tensor(first[:, :16], DEEP),
        "other.moved": tensor((second - first).abs().max(dim=1).values, DEEP),
    }
    return cell("leak-test", tensors, {"mistake": mistake})


def guesses(sentence):
    """tiny-gpt's most likely next tokens at every position, and the probability of the right one."""
    gpt = Gpt()
    ids = [gpt.end, *gpt.ids(sentence)]
    read, answers = ids[:-1], torch.tensor(ids[1:])
    tensors = {"tokens": tensor(float(len(answers)), 0)}
    for name, mask in [("with", True), ("without", False)]:
        shares = torch.softmax(gpt.forward(read, mask)[1], dim=-1)
        top = shares.topk(3, dim=-1)
        right = (top.indices[:, 0] == answers).double()
        tensors[f"{name}.probabilities"] = tensor(top.values, 2e-5)
        tensors[f"{name}.truth"] = tensor(shares[torch.arange(len(answers)), answers], 2e-5)
        tensors[f"{name}.right"] = tensor(right, 0)
        tensors[f"{name}.count"] = tensor(right.sum(), 0)
    return cell("next-word-guesses", tensors, {"sentence": sentence})


def ten_thousand(visible, penalty, first, cell_id):
    scores = torch.tensor([[16.0, 8.0, 4.0, 24.0, -8.0]], dtype=torch.float64)
    seen = torch.tensor([visible], dtype=torch.bool)
    scale = 1 / math.sqrt(64)
    tensors = {"plain": tensor(torch.softmax(scores * scale, dim=-1), TIGHT)}
    for name, p in [("infinite", -math.inf), ("finite", penalty)]:
        mask = torch.zeros_like(scores).masked_fill(~seen, p)
        masked = (scores + mask) * scale if first else scores * scale + mask
        tensors[f"{name}.masked"] = tensor(masked, 2e-3)
        weights = torch.softmax(masked, dim=-1)
        if not torch.isnan(weights).any():
            tensors[f"{name}.weights"] = tensor(weights, TIGHT)
            tensors[f"{name}.leak"] = tensor(weights[~seen].sum(), TIGHT)
    inputs = {"visible": [visible], "penalty": penalty, "first": first}
    return cell("minus-ten-thousand", tensors, inputs, cell_id)


def three():
    x = embedded(SENTENCE, "source", 1000, 8) + sinusoid(len(SENTENCE), 8)
    y = embedded(TARGET, "target", 1000, 8) + sinusoid(len(TARGET), 8)
    encoder = attention(x, x, "encoder.")
    decoder = attention(y, y, "decoder.", causal(len(TARGET)))
    cross = attention(decoder[3], encoder[3], "cross.")
    tensors = {}
    for name, (_, masked, weights, output) in [("encoder", encoder), ("decoder", decoder), ("cross", cross)]:
        tensors[f"{name}.masked"] = tensor(masked, 2e-5)
        tensors[f"{name}.weights"] = tensor(weights, 2e-5)
        tensors[f"{name}.output"] = tensor(output, 2e-5)
    inputs = {"model": "random", "sentence": " ".join(SENTENCE), "target": " ".join(TARGET)}
    return cell("three-attentions", tensors, inputs)


def trained_three(layer, head):
    """One head of the trained translator in each of the three places."""
    translator = Translator()
    source = translator.ids(" ".join(SENTENCE))
    found = translator.forward(source, [translator.end, *translator.ids(" ".join(TARGET))])
    tensors = {}
    for name, blocks in found.items():
        seen = blocks[layer - 1]
        tensors[f"{name}.weights"] = tensor(seen["weights"][head - 1], 2e-5)
        tensors[f"{name}.output"] = tensor(seen["heads"][head - 1], 5e-5)
    inputs = {"sentence": " ".join(SENTENCE), "target": " ".join(TARGET), "layer": layer, "head": head}
    return cell("three-attentions", tensors, inputs)


if __name__ == "__main__":
    places = torch.arange(6)
    window = (places[:, None] - places[None, :]).abs() <= 1
    write(
        __file__,
        "causal-mask",
        [
            guesses("Once there was a little girl named Lily"),
            guesses("The cat sat on the mat."),
            editor("causal", causal(6)),
            editor("padding", (places < 4).expand(6, 6)),
            editor("local window", window),
            editor("prefix", causal(6) | (places < 3)),
            trained_leak(),
            leak(),
            mistaken_leak("one-too-far"),
            mistaken_leak("transposed"),
            mistaken_leak("after-softmax"),
            mistaken_leak("before-scaling"),
            ten_thousand([1, 1, 1, 0, 0], -10000, False, "minus-ten-thousand"),
            ten_thousand([1, 1, 1, 0, 0], -64, True, "minus-ten-thousand"),
            ten_thousand([0, 0, 0, 0, 0], -10000, False, "minus-ten-thousand"),
            trained_three(2, 4),
            three(),
        ],
    )
