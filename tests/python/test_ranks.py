"""One rank with batch 8 against two ranks with batch 4."""
import json

import pytest
import tiny

TEXTS = tiny.TEXTS["handwritten"]


def train(model, out, ranks, batch):
    tiny.run("--model_name_or_path", model, "--train_file", TEXTS, "--do_train", "--do_eval", "--validation_file", TEXTS,
             "--max_train_samples", 80, "--max_steps", 30, "--per_device_train_batch_size", batch, "--learning_rate",
             1e-3, "--logging_steps", 1, "--save_strategy", "no", "--output_dir", out, "--save_logits",
             out.with_suffix(".logits"), ranks=ranks)
    return tiny.log_history(out)[0]


def test_two_ranks_train_as_one(model_folder, tmp_path):
    """The losses differ by the order of float sums alone (and by the four decimals of the log)."""
    one = train(model_folder, tmp_path / "one", 1, 8)
    two = train(model_folder, tmp_path / "two", 2, 4)
    assert len(one) == len(two) == 30
    for a, b in zip(one, two):
        assert a["loss"] == pytest.approx(b["loss"], rel=1e-4, abs=1.1e-4)
        assert a["grad_norm"] == pytest.approx(b["grad_norm"], rel=1e-3)
        assert a["learning_rate"] == b["learning_rate"]
        assert a["epoch"] == b["epoch"]


def test_two_ranks_evaluate_as_one(model_folder, tmp_path):
    """The same bits: predictions, n-best lists and logits."""
    rows, logits = tiny.evaluate(model_folder, TEXTS, tmp_path / "one")
    rows_two, logits_two = tiny.evaluate(model_folder, TEXTS, tmp_path / "two", ranks=2)
    assert rows == rows_two
    assert tiny.largest_difference(logits, logits_two) == 0
    for name in ("eval_predictions.json", "eval_nbest_predictions.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_folder_of_two_ranks_is_complete(model_folder, tmp_path):
    """What rank 0 saves holds every parameter: the reference computes the run's own logits from it."""
    out = tmp_path / "out"
    train(model_folder, out, 2, 4)
    rows, _ = tiny.evaluate(out, TEXTS, tmp_path / "again")
    logits = tiny.read_logits(out.with_suffix(".logits"))
    assert tiny.largest_difference(logits, tiny.reference_logits(tiny.load_model(out), rows)) <= 1e-4
    assert json.loads((out / "all_results.json").read_text())["eval_samples"] == len(rows)


def test_what_is_odd_is_said_once(model_folder, tmp_path):
    """All ranks read the tokenizer's files and one speaks of them; a key for downloads is not saved with the model."""
    out = tmp_path / "out"
    tiny.run("--model_name_or_path", model_folder, "--train_file", TEXTS, "--do_train", "--max_train_samples", 8,
             "--max_steps", 1, "--save_strategy", "no", "--token", "hf_secret", "--output_dir", out)
    assert all(b"hf_secret" not in path.read_bytes() for path in out.rglob("*") if path.is_file())
    tokenizer = json.loads((out / "tokenizer.json").read_text())
    settings = json.loads((out / "tokenizer_config.json").read_text())
    tokenizer["normalizer"]["lowercase"] = False
    settings["do_lower_case"] = None
    (out / "tokenizer.json").write_text(json.dumps(tokenizer))
    (out / "tokenizer_config.json").write_text(json.dumps(settings))
    said = tiny.run("--model_name_or_path", out, "--validation_file", TEXTS, "--do_eval", "--max_eval_samples", 8,
                    "--output_dir", tmp_path / "eval", ranks=2)
    assert said.count("asks for do_lower_case") == 1
