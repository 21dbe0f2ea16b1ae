"""Tokens, offsets and windows of `yoke qa` against the live reference tokenizer: the nasty texts of the golden
files, random code points, and long contexts cut into windows, cased and lower-case."""
import json
import os
import pathlib
import random
import subprocess

import pytest
import torch
from transformers import BertTokenizerFast, DistilBertConfig, DistilBertForQuestionAnswering

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden/tokenizer"
ANSWER = "Anchor"
MAX_LENGTH, STRIDE = 64, 16
# Ranges of code points where the steps of the tokenizer do something.
RANGES = [(0x20, 0x7f), (0x01, 0x30), (0x80, 0x250), (0x300, 0x370), (0x370, 0x600), (0x900, 0x980), (0x1100, 0x1200),
          (0x1e00, 0x2070), (0x3040, 0x3100), (0x4e00, 0x4e40), (0xac00, 0xac40), (0xf900, 0xfa10), (0xe000, 0xe010),
          (0x1d15e, 0x1d1c0), (0x1f300, 0x1f650), (0x2b800, 0x2b940)]
CONFIGS = {
    "lower case": {"do_lower_case": True},
    "cased": {"do_lower_case": False},
    "lower case, accents kept": {"do_lower_case": True, "strip_accents": False},
    "cased, accents off, ideographs together": {"do_lower_case": False, "strip_accents": True,
                                                "tokenize_chinese_chars": False},
}


def golden_texts():
    return json.loads((GOLDEN / "expected.json").read_text())["texts"]


def random_text(source, length):
    words = ["[SEP]", "[MASK]", " ", " ", "lighthouse", "Marrow ", "##ing"]
    return "".join(source.choice(words) if source.random() < 0.2 else chr(source.randrange(*source.choice(RANGES)))
                   for _ in range(length))


def make_examples():
    source = random.Random(20240229)
    contexts = golden_texts()
    contexts += [random_text(source, source.randrange(60)) for _ in range(400)]
    contexts += [random_text(source, source.randrange(200, 1500)) for _ in range(40)]
    contexts += ["the light " * n for n in range(1, 80, 3)]
    questions = ["What?", "  Which light house was built", "na\u00efve \u4e2d [MASK]?"]
    return [{"id": str(i), "question": questions[i % 3], "context": f"{ANSWER} {text}",
             "answers": {"text": [ANSWER], "answer_start": [0]}} for i, text in enumerate(contexts)]


def make_model(folder, config):
    vocab = (GOLDEN / "vocab.txt").read_text(encoding="utf-8")
    (folder / "vocab.txt").write_text(vocab, encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"tokenizer_class": "BertTokenizer"}))
    torch.manual_seed(0)
    DistilBertForQuestionAnswering(DistilBertConfig(
        vocab_size=vocab.count("\n"), dim=16, n_layers=1, n_heads=2, hidden_dim=32,
        max_position_embeddings=MAX_LENGTH)).save_pretrained(folder)


def yoke_features(model, examples, folder):
    data, features = folder / "data.json", folder / "features.jsonl"
    data.write_text("".join(json.dumps(e) + "\n" for e in examples))
    subprocess.run([os.environ["YOKE"], "qa", "--model_name_or_path", model, "--do_eval", "--validation_file", data,
                    "--max_seq_length", str(MAX_LENGTH), "--doc_stride", str(STRIDE), "--save_features", features,
                    "--output_dir", folder / "out"], check=True, stdout=subprocess.DEVNULL)
    return [json.loads(line) for line in features.read_text().splitlines()]


def reference_features(model, examples):
    tokenizer = BertTokenizerFast.from_pretrained(model)
    encoded = tokenizer([e["question"].lstrip() for e in examples], [e["context"] for e in examples],
                        truncation="only_second", max_length=MAX_LENGTH, stride=STRIDE,
                        return_overflowing_tokens=True, return_offsets_mapping=True)
    for i, example in enumerate(encoded["overflow_to_sample_mapping"]):
        context = [part == 1 for part in encoded.sequence_ids(i)]
        yield {"example_id": examples[example]["id"], "input_ids": encoded["input_ids"][i],
               "token_type_ids": encoded["token_type_ids"][i],
               "offsets": [list(o) if c else None for o, c in zip(encoded["offset_mapping"][i], context)]}


@pytest.mark.parametrize("name", CONFIGS)
def test_features_equal_the_reference(name, tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    make_model(model, CONFIGS[name])
    examples = make_examples()
    ours = yoke_features(model, examples, tmp_path)
    reference = list(reference_features(model, examples))
    assert len(reference) > len(examples)
    for mine, theirs in zip(ours, reference):
        assert {key: mine[key] for key in theirs} == theirs
    assert len(ours) == len(reference)
