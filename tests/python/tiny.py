"""Small models, the program, and the reference's forward pass without padding."""
import collections
import json
import os
import pathlib
import shutil
import subprocess

import reference
import safetensors.torch
import torch
import transformers

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = {
    "golden": CHECKOUT / "tests/golden/qa/texts.json",
    "handwritten": CHECKOUT / "examples/qa/handwritten.json",
    "xquad": CHECKOUT.parent / "shared/data/xquad.en.json",
}
MAX_POSITIONS = 384
CLASSES = {
    "distilbert": transformers.DistilBertForQuestionAnswering,
    "bert": transformers.BertForQuestionAnswering,
}


def write_vocabulary(folder, paths, n_words=2500):
    """Special tokens, all letters as words and pieces, and the most frequent words of these files."""
    backend = transformers.BertTokenizer(
        vocab={"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}).backend_tokenizer
    words = collections.Counter()
    for path in paths:
        for example in reference.read_examples(path):
            for text in (example["question"], example["context"]):
                pieces = backend.pre_tokenizer.pre_tokenize_str(backend.normalizer.normalize_str(text))
                words.update(word for word, _ in pieces)
    letters = sorted({letter for word in words for letter in word})
    frequent = sorted(words, key=lambda word: (-words[word], word))[:n_words]
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + letter for letter in letters), *frequent]
    (folder / "vocab.txt").write_text("".join(token + "\n" for token in dict.fromkeys(tokens)), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"do_lower_case": True, "model_max_length": MAX_POSITIONS, "tokenizer_class": "BertTokenizer"}))


def make_config(family, vocab_size):
    if family == "distilbert":
        return transformers.DistilBertConfig(
            vocab_size=vocab_size, dim=64, n_layers=2, n_heads=4, hidden_dim=128,
            max_position_embeddings=MAX_POSITIONS, dropout=0.0, attention_dropout=0.0, qa_dropout=0.0)
    return transformers.BertConfig(
        vocab_size=vocab_size, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=MAX_POSITIONS, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)


def make_model(family, vocabulary, seed=1):
    """Weights much larger than fresh ones, and no bias zero, no norm one: whatever is left out or exchanged in the
    forward pass shows in the logits."""
    n_tokens = len((vocabulary / "vocab.txt").read_text(encoding="utf-8").splitlines())
    model = CLASSES[family](make_config(family, n_tokens))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, values in model.named_parameters():
            noise = torch.randn(values.shape, generator=generator)
            is_norm = "norm" in name.lower() and name.endswith("weight")
            values.copy_(1 + 0.1 * noise if is_norm else 0.15 * noise)
    return model.eval()


def copy_tokenizer(vocabulary, folder):
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(vocabulary / name, folder)


def save_model(model, vocabulary, folder, **options):
    model.save_pretrained(folder, **options)
    copy_tokenizer(vocabulary, folder)


def load_model(folder):
    return transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()


def run(*arguments, ranks=1, expect=0):
    """Runs `yoke qa ARGUMENTS`, on several ranks when asked to; returns what it printed (both streams)."""
    program = [os.environ["YOKE"]]
    command = program + (["launch", "-n", str(ranks)] if ranks > 1 else []) + ["qa", *map(str, arguments)]
    # Idle threads sleep: spinning ones would multiply the time of these small models on a busy machine.
    environment = {"OMP_WAIT_POLICY": "passive", **os.environ}
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                          env=environment)
    assert done.returncode == expect, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout


def evaluate(model, texts, out, *arguments, **options):
    """--do_eval; returns (features, logits): the rows of --save_features and a (start, end) pair for each."""
    run("--model_name_or_path", model, "--validation_file", texts, "--do_eval", "--output_dir", out,
        "--save_features", out.with_suffix(".features"), "--save_logits", out.with_suffix(".logits"), *arguments,
        **options)
    return read_features(out.with_suffix(".features")), read_logits(out.with_suffix(".logits"))


def read_features(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_logits(path):
    tensors = safetensors.torch.load_file(path)
    cuts = tensors["offsets"].tolist()
    starts, ends = tensors["start_logits"], tensors["end_logits"]
    assert cuts[0] == 0 and cuts[-1] == len(starts) == len(ends)
    return [(starts[a:b].numpy(), ends[a:b].numpy()) for a, b in zip(cuts, cuts[1:])]


def forward(model, row):
    """The reference's output for one feature, alone and unpadded."""
    inputs = {"input_ids": torch.tensor([row["input_ids"]])}
    if model.config.model_type == "bert":
        inputs["token_type_ids"] = torch.tensor([row["token_type_ids"]])
    return model(**inputs)


def reference_logits(model, rows):
    with torch.no_grad():
        outputs = [forward(model, row) for row in rows]
    return [(output.start_logits[0].numpy(), output.end_logits[0].numpy()) for output in outputs]


def largest_difference(ours, theirs):
    assert len(ours) == len(theirs)
    return max(abs(a - b).max() for mine, other in zip(ours, theirs) for a, b in zip(mine, other))


def log_history(folder):
    """The entries of single steps, and the closing entry."""
    history = json.loads((folder / "trainer_state.json").read_text())["log_history"]
    return [entry for entry in history if "loss" in entry], [entry for entry in history if "train_loss" in entry]
