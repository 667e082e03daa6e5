"""Reference tensors of lesson 02, tokens: byte pairs and embeddings by PyTorch, ids by Hugging Face's `tokenizers`.

Run: python tests/golden/lessons/make_tokens.py
"""

import json

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece

from common import HERE, cell, tensor, write

MODELS = HERE.parents[2] / "public/models"
BLOCK, EXACT = 32, 0


def byte_level(name):
    """The tokenizer of a shipped model, without the token that some put before a text."""
    made = Tokenizer.from_file(str(MODELS / f"{name}-tokenizer.json"))
    return lambda text: made.encode(text, add_special_tokens=False).ids


def word_pieces():
    lines = (MODELS / "tiny-bert-vocab.txt").read_text(encoding="utf-8").splitlines()
    made = Tokenizer(WordPiece({token: n for n, token in enumerate(lines)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return lambda text: made.encode(text).ids


GPT, TRANSLATOR, BERT = byte_level("tiny-gpt"), byte_level("translator"), word_pieces()


def tokenize(text, encode, given=None):
    ids = encode(text)
    tensors = {
        "ids": tensor(ids, EXACT),
        "count": tensor(len(ids), EXACT),
        "characters": tensor(len(text), EXACT),
        "bytes": tensor(len(text.encode()), EXACT),
    }
    return cell("tokenize", tensors, given)


def words_of(text):
    """The words of a text as bytes; a space belongs to the word after it."""
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    return [list(text[start:end].encode()) for _, (start, end) in cut]


def merge(words, pair, new):
    for word in words:
        for i in range(len(word)):
            if word[i : i + 2] == pair:
                word[i : i + 2] = [new]


def learn(text, most):
    """Pairs, new ids and counts, by counting all pairs with torch.unique before each merge."""
    words, spelled = words_of(text), [bytes([n]) for n in range(256)]
    pairs, new, counts = [], [], []
    while len(pairs) < most:
        neighbours = [pair for word in words for pair in zip(word, word[1:])]
        found, times = torch.tensor(neighbours).unique(dim=0, return_counts=True)
        if int(times.max()) < 2:
            break
        pair = found[times.argmax()].tolist()
        token = spelled[pair[0]] + spelled[pair[1]]
        if token not in spelled:
            spelled.append(token)
        pairs.append(pair)
        new.append(spelled.index(token))
        counts.append(int(times.max()))
        merge(words, pair, new[-1])
    return words, pairs, new, counts


def bpe_train(text, merges, other, given=None):
    words, pairs, new, counts = learn(text, merges)
    others = words_of(other)
    for pair, token in zip(pairs, new):
        merge(others, pair, token)
    everything = learn(text, 60)
    ids, other_ids = sum(words, []), sum(others, [])
    tensors = {
        "pairs": tensor(torch.tensor(pairs, dtype=torch.float64).reshape(-1, 2), EXACT),
        "counts": tensor(counts, EXACT),
        "new": tensor(new, EXACT),
        "ids": tensor(ids, EXACT),
        "other.ids": tensor(other_ids, EXACT),
        "count": tensor(len(ids), EXACT),
        "other.count": tensor(len(other_ids), EXACT),
        "possible": tensor(len(everything[1]), EXACT),
    }
    return cell("bpe-train", tensors, given)


SENTENCES = [
    "I would like a cup of tea, please.",
    "Vorrei una tazza di tè, per favore.",
    "Ich hätte gern eine Tasse Tee, bitte.",
    "Θα ήθελα ένα φλιτζάνι τσάι, παρακαλώ.",
    "कृपया मुझे एक कप चाय दीजिए।",
    "お茶を一杯お願いします。",
    "🙏🍵🙂",
]


def token_tax(yours, encode, given=None):
    sentences = [*SENTENCES, yours]
    counts = torch.tensor([len(encode(text)) for text in sentences], dtype=torch.float64)
    tensors = {
        "tokens": tensor(counts, EXACT),
        "characters": tensor([len(text) for text in sentences], EXACT),
        "bytes": tensor([len(text.encode()) for text in sentences], EXACT),
        "shares": tensor(counts / counts.max(), 1e-8),
        "ratios": tensor(counts / counts[0], 1e-7),
    }
    return cell("token-tax", tensors, given)


def letters_and_numbers(word, letter, encode, decode, given=None):
    forms = {"plain": word, "spaced": f" {word}", "capital": word[0].upper() + word[1:], "capitals": word.upper()}
    tensors = {f"{name}.ids": tensor(encode(text), EXACT) for name, text in forms.items()}
    letters = [decode(token).lower().count(letter) for token in encode(word)]
    tensors["plain.letters"] = tensor(letters, EXACT)
    tensors["letters"] = tensor(sum(letters), EXACT)
    for name, before in [("alone", ""), ("spaced", " ")]:
        single = torch.zeros(4, dtype=torch.float64)
        for number in range(1, 1001):
            single[len(str(number)) - 1] += len(encode(f"{before}{number}")) == 1
        tensors[f"numbers.{name}"] = tensor(single, EXACT)
        tensors[f"numbers.{name}.total"] = tensor(single.sum(), EXACT)
    return cell("letters-and-numbers", tensors, given)


def table():
    """The token table of tiny-gpt: signed bytes, times a scale for each 32 of them."""
    file = load_file(MODELS / "tiny-gpt.safetensors")
    name = "transformer.wte.weight"
    rows, scales = file[name].double(), file[f"{name}.scales"].double()
    return (rows.reshape(-1, BLOCK) * scales.reshape(-1, 1)).reshape(rows.shape)


def embedding_rows(word, given=None):
    e = table()
    ids = GPT(f" {word}")
    token = torch.tensor([ids[0]])
    row = F.embedding(token, e)
    product = F.one_hot(token, len(e)).double() @ e
    alike = F.cosine_similarity(row, e, dim=1)
    others = [n for n in alike.argsort(descending=True).tolist() if n != ids[0]]
    tensors = {
        "id": tensor(ids[0], EXACT),
        "pieces": tensor(len(ids), EXACT),
        "rows": tensor(torch.cat([row, product])[:, :8], 1e-7),
        "differing": tensor((row != product).sum(), EXACT),
        "nearest.ids": tensor(others[:8], EXACT),
        "cosines": tensor(alike[others[:8]], 1e-6),
        "cosine.mean": tensor(alike[others].mean(), 1e-6),
    }
    return cell("embedding-rows", tensors, given)


def gpt_text():
    made = Tokenizer.from_file(str(MODELS / "tiny-gpt-tokenizer.json"))
    return lambda token: made.decode([token])


if __name__ == "__main__":
    question, shells = "How many letters r are in strawberry?", "She sells sea shells by the sea shore. The shells she sells are sea shells."
    mixed = "Naïve Zoë paid 12345 yen, didn't she? 🍓"
    bananas = {"text": "banana banana bandana", "merges": 60, "other": "a band"}
    cells = [
        tokenize(question, GPT),
        tokenize(mixed, TRANSLATOR, {"text": mixed, "vocabulary": "translator"}),
        tokenize(mixed, BERT, {"text": mixed, "vocabulary": "tiny-bert"}),
        bpe_train(shells, 3, "He sees the shells"),
        bpe_train(bananas["text"], 60, bananas["other"], bananas),
        token_tax("A cup of coffee, quick!", GPT),
        token_tax("Un caffè!", TRANSLATOR, {"yours": "Un caffè!", "vocabulary": "translator"}),
        letters_and_numbers("strawberry", "r", GPT, gpt_text()),
        embedding_rows("mother"),
        embedding_rows("yesterday", {"word": "yesterday"}),
    ]
    write(__file__, "tokens", cells, note=f"ids by tokenizers {__import__('tokenizers').__version__}")
