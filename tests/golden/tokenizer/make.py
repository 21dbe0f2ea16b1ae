#!/usr/bin/env python3
"""Makes the golden files of the tokenizer with the reference (transformers 5.15.1, tokenizers 0.22.2):

    vocab.txt       a small vocabulary of our own
    expected.json   tokenizer_config.json contents ("configs"), texts, and for each config and text what the
                    reference answers: [ids, begins, ends], offsets in code points
    added/          a folder saved by the reference, with added tokens of every flag, and its expected.json

codepoints.txt is not made here: it was measured by passing every code point through each step alone.

Usage: make.py, in an environment with transformers and tokenizers."""
import itertools
import json
import os
import pathlib
import shutil
import tempfile
import unicodedata

os.environ["HF_HUB_OFFLINE"] = "1"
from tokenizers import AddedToken  # noqa: E402
from transformers import BertTokenizerFast  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent

# Cases of one idea a line. Invisible characters are written as escapes.
TEXTS = [
    "", " ", " \t\r\n ", "\u200b\u200d\ufeff\u00ad", "The lighthouse at Marrow Point was built in 1874.",
    "unaffable unaffableness UNAFFABLE", "a\ufeffb \ufeffc", "no\u00a0break\u3000wide\u2003em\u202fnarrow",
    "line\u2028separator para\u2029graph", "vt\x0bff\x0cnel\x85end", "tab\tlf\ncr\rcrlf\r\nend",
    "soft\u00adhyphen mongolian\u180evowel bad\ufffdchar word\u2060joiner",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 family", "\U0001f44d\U0001f3fd thumb \u2764\ufe0f heart",
    "\U0001f1eb\U0001f1f7 flag", "\U0001f600", "na\u00efve nai\u0308ve na\u00efve\u0301 cafe\u0301", "\u0130stanbul I\u0307stanbul istanbul \u0131",
    "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 \u03c3\u03b1\u03c2 \u0386\u03ad\u03af", "stra\u00dfe STRA\u1e9eE",
    "Vi\u1ec7t Nam ti\u1ebfng Vi\u0065\u0323\u0302t \u01a1\u0323\u0301", "a\u0301\u0323 e\u0323\u0301 o\u0301\u0302\u0303\u0323\u0331x",
    "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \u0e17\u0e35\u0e48\u0e19\u0e35\u0e48", "\u0939\u093f\u0928\u094d\u0926\u0940 \u0915\u093c \u0958",
    "\u0627\u0644\u0639\u064e\u0631\u064e\u0628\u0650\u064a\u0651\u0629\u061f \u0622", "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd \u05be", "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab",
    "\u304c\u304e \u304b\u3099 \u30d1\u30d4 \uff76\uff9e", "\u4e2d\u6587abc\u65e5\u672c", "\u3400x\U00020000y\U0002b820z\U0002b920w\U00030000v",
    "\uf900 \u8c48 \ufa0e \U0002f800", "\ue000private \U000f0000use", "\u0378unassigned \ufffenon \ufdd0char", "\u0890new \u08e2format \U000110cd",
    "x" * 100, "x" * 101, "y " + "x" * 101 + " y", "ab" * 50, "\u00e9" * 100, "e\u0301" * 100, "\u200d".join("x" * 101),
    "foo[SEP]bar", "[MASK]", "[CLS] [cls] [MASK][MASK] [PAD", "[[SEP]]", "[UNK]token", "play ##ing", "##ing", "#hashtag ##",
    "wait... what?!?! --- (see: a/b_c-d) @me", "\u20ac50 \u2122 \u00a9 \u00b12 \u00a75", "\u201ccurly\u201d \u2018quotes\u2019 \u2013 \u2014 \u2026", "$+<=>^`|~ \\ {}[]",
    "\u061d \u2e43 \u2e52 \u166d \U000111c9", "\u2126 \u212a \u212b \u00c5 \u01c5 \u01f0 \ufb01 \u00bd \u2167",
    "a\u20ddb c\u0488d", "q\u302e\u0301r s\u0301\u302et \U0001d15e \u1b06", "\u0f73x \u0f71\u0f72 \u0344y", "\u08d4\u0301z a\u0898b",
    "\U00010400\U00010428 \U0001e921", "\U00011938 \U00011935\U00011930", "\u1c90\u10d0 \u13a0\uab70 \ua64a", "don't 3.14 U.S.A. e-mail",
    "answerkey startmid", "\u0301leading \u0301 alone", "\U000e0001\U000e0041tag", "mixed\u4e2dword\u00e9\u00a0end.",
]
# In the vocabulary beside single characters: words and pieces that make longest match, rest and fallback differ.
WORDS = ("the lighthouse light house at marrow point was built in un unaff ##aff ##able ##ab ##ness family thumb "
         "flag naive na\u00efve cafe caf\u00e9 istanbul stra\u00dfe strasse viet viet\u0323 nam play ##ing what wait see me key "
         "answer ##key start ##mid The Marrow Point UN The xx ##xx ##x x ab ##ab don t 3 14 U S A e mail word end").split()


def make_vocab():
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    characters = set()
    for text in TEXTS:
        for form in (text, text.lower(), unicodedata.normalize("NFD", text), unicodedata.normalize("NFD", text).lower()):
            characters.update(c for c in form if not c.isspace() and unicodedata.category(c)[0] != "C")
    for c in sorted(characters):
        if ord(c) % 11 != 3:  # some must stay unknown
            tokens += [c, "##" + c]
    return list(dict.fromkeys(tokens + WORDS))


def answers(tokenizer, texts):
    encoded = tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True)
    return [[ids, [b for b, _ in offsets], [e for _, e in offsets]]
            for ids, offsets in zip(encoded["input_ids"], encoded["offset_mapping"])]


def write_expected(path, content):
    """One result a line, so that a difference can be read."""
    lines = []
    for key, value in content.items():
        if key == "results":
            groups = [",\n".join(json.dumps(r, separators=(",", ":")) for r in group) for group in value]
            lines.append('"results": [\n[' + "],\n[".join(groups) + "]]")
        else:
            lines.append(f'"{key}": [\n' + ",\n".join(json.dumps(v) for v in value) + "]")
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="ascii")


def make_plain(vocab):
    (HERE / "vocab.txt").write_text("\n".join(vocab) + "\n", encoding="utf-8")
    configs, results = [], []
    for lower, strip, cjk in itertools.product((True, False), (None, True, False), (True, False)):
        config = {"do_lower_case": lower, "strip_accents": strip, "tokenize_chinese_chars": cjk}
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(HERE / "vocab.txt", folder)
            (pathlib.Path(folder) / "tokenizer_config.json").write_text(json.dumps(config))
            results.append(answers(BertTokenizerFast.from_pretrained(folder), TEXTS))
        configs.append(config)
    write_expected(HERE / "expected.json", {"configs": configs, "texts": TEXTS, "results": results})


ADDED = [
    AddedToken("single", single_word=True, normalized=False), AddedToken("Two Words", normalized=True),
    AddedToken("<left>", lstrip=True, normalized=False, special=True), AddedToken("<right>", rstrip=True, normalized=False),
    AddedToken("<both>", lstrip=True, rstrip=True, normalized=True), AddedToken("\u00e9t\u00e9", normalized=True),
    AddedToken("over", normalized=False), AddedToken("overlap", normalized=False), AddedToken("lapping", normalized=False),
]
ADDED_TEXTS = [
    "single singles a-single _single single", "two words TWO WORDS Two  Words two w\u00f6rds Two Words!", "a  <left>  b <LEFT> <left><left>",
    "a  <right>  b<right> \u3000c", "a \t<both>\n b  <BOTH>", "\u00e9t\u00e9 ete ETE E\u0301TE\u0301 xetex", "over overl overlap overlapping overover",
    "[MASK]  <right>   <left>   [SEP]", "", "   ", "<left>", "\u4e2dsingle\u4e2d two\u200d words",
]


def make_added(vocab):
    folder = HERE / "added"
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as plain:
        (pathlib.Path(plain) / "vocab.txt").write_text("\n".join(vocab[:5] + list(WORDS[:40])) + "\n", encoding="utf-8")
        tokenizer = BertTokenizerFast.from_pretrained(plain, model_max_length=384)
        tokenizer.add_tokens(ADDED)
        tokenizer.save_pretrained(folder)
    tokenizer = BertTokenizerFast.from_pretrained(folder)
    write_expected(folder / "expected.json", {"texts": ADDED_TEXTS, "results": [answers(tokenizer, ADDED_TEXTS)]})


if __name__ == "__main__":
    VOCAB = make_vocab()
    make_plain(VOCAB)
    make_added(VOCAB)
