"""Makes tokens.json: what the `regex`, `tokenizers` and `sentencepiece` packages make of texts in many scripts.

    pip install regex tokenizers sentencepiece protobuf && python tests/golden/engine/make_tokenizers.py
"""

import io
import json
import pathlib
import random
import unicodedata

import regex
import sentencepiece
import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, processors, trainers

# The characters of an old version: the packages know different new ones.
OLD = unicodedata.ucd_3_2_0
SEED = 20261121
OUT = pathlib.Path(__file__).with_name("tokens.json")

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
LATER = (
    r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}DIGITS| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"""
    r"""|\s+(?!\S)|\s+"""
)
PATTERNS = {"gpt2": GPT2, "llama3": LATER.replace("DIGITS", "{1,3}"), "qwen2": LATER.replace("DIGITS", "")}

# Characters on which the rules turn, and some of every script and kind.
TURNING = " \n\r\t\u00a0\u2003'\u2019sStTrReEvVmMlLdDaz019.,!-_$\u00ad\u200d\u0301\u0903"
OTHERS = "éüßЖяΩςİıſ½Ⅷ٣१我想は한글ไทยकिក់אב🦙🚀😶\u200d🌫\ufe0f\u3000\ufeff\u00b2ªⓐ\ufffd\u0000\u007f…¿«»～、。\ue000\u0085\u2028"


def texts(draw):
    yield from ["", " ", "Hello, y'all! I'll  go\n\n to  the 3.14km² café…  ", "'ſ 'S 're'RE don't WON'T 'tis", "\r\n \r\n\t x"]
    for _ in range(150):
        yield "".join(draw.choice(TURNING if draw.random() < 0.7 else OTHERS) for _ in range(draw.randint(1, 40)))


def any_characters(draw, count):
    """Characters from all of Unicode, a few words each."""
    # Not U+2B820 to U+2B91F: `tokenizers` does not count them as Chinese, BERT's own code does.
    points = (point for point in range(0x110000) if not 0x2B820 <= point < 0x2B920)
    every = [chr(point) for point in points if OLD.category(chr(point)) not in ("Cn", "Cs", "Co")]
    for _ in range(count):
        yield "".join(draw.choice(every) if draw.random() < 0.8 else " " for _ in range(60))


def bert_words(text, uncased):
    normalizer = normalizers.BertNormalizer(lowercase=uncased)
    cut = pre_tokenizers.BertPreTokenizer()
    return [word for word, _ in cut.pre_tokenize_str(normalizer.normalize_str(text))]


CORPUS = """The cat sat on the mat, and the dog sat by the cat. When the sun rose, the cats rose too;
they ran to the barn where hens laid eggs. "Where are the eggs?" asked the dog. The hens did not say.
Il gatto è sul tappeto e il cane è accanto al gatto. Perché no? Così è la vita: città, università, caffè."""


def sentence_piece(draw):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS.split("\n")),
        model_writer=model,
        model_type="bpe",
        vocab_size=400,
        byte_fallback=True,
        character_coverage=1.0,
        split_digits=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    words = CORPUS.split() + ["🦙", "  ", "\n", "7", "我", "thecat"]
    examples = ["", " ", CORPUS] + [" ".join(draw.choices(words, k=8)) for _ in range(30)]
    return {
        "model": list(model.getvalue()),
        "tokenizer_json": as_tokenizer_json(processor),
        "examples": [{"text": text, "ids": processor.encode(text)} for text in examples],
    }


def as_tokenizer_json(processor):
    """The same vocabulary as Llama's tokenizer.json has it: every way to put a token together is a merge, best score first."""
    pieces = {processor.id_to_piece(i): i for i in range(processor.get_piece_size())}
    merges = []
    for piece, i in pieces.items():
        if not (processor.is_byte(i) or processor.is_control(i) or processor.is_unknown(i)):
            ways = [(piece[:at], piece[at:]) for at in range(1, len(piece))]
            merges += [(-processor.get_score(i), left, right) for left, right in ways if left in pieces and right in pieces]
    merges = [(left, right) for _, left, right in sorted(merges, key=lambda merge: merge[0])]
    tokenizer = tokenizers.Tokenizer(models.BPE(pieces, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer.to_str()


def byte_bpe(draw):
    """A small byte-level vocabulary as a tokenizer.json."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=500, initial_alphabet=alphabet, special_tokens=["<|endoftext|>"], show_progress=False
    )
    tokenizer.train_from_iterator([CORPUS], trainer)
    tokenizer.add_tokens(["cat "])
    words = CORPUS.split() + ["🦙", "  ", "\n", "7", "'ll", "thecat", "cat ", "<|endoftext|>"]
    examples = [CORPUS] + [" ".join(draw.choices(words, k=8)) for _ in range(30)]
    return {
        "tokenizer_json": tokenizer.to_str(),
        "size": tokenizer.get_vocab_size(),
        "examples": [{"text": text, "ids": tokenizer.encode(text).ids} for text in examples],
    }


def main():
    draw = random.Random(SEED)
    split_texts = list(texts(draw)) + list(any_characters(draw, 60))
    bert_texts = split_texts[:80] + list(any_characters(draw, 60))
    golden = {
        "header": {
            "script": "tests/golden/engine/make_tokenizers.py",
            "seed": SEED,
            "regex": regex.__version__,
            "tokenizers": tokenizers.__version__,
            "sentencepiece": sentencepiece.__version__,
        },
        "splits": [
            {"text": text, **{name: regex.findall(pattern, text) for name, pattern in PATTERNS.items()}}
            for text in split_texts
        ],
        "bert": [
            {"text": text, "uncased": bert_words(text, True), "cased": bert_words(text, False)} for text in bert_texts
        ],
        "sentence_piece": sentence_piece(draw),
        "byte_bpe": byte_bpe(draw),
    }
    OUT.write_text(json.dumps(golden, separators=(",", ":")) + "\n", encoding="utf-8")


main()
