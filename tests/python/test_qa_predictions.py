"""Answers, n-best lists and scores against the reference's post-processing of the same logits."""
import json

import pytest
import reference
import tiny

PRECISION = 2e-6  # of a probability: the reference's exponential is a single-precision one


@pytest.fixture(scope="module")
def model(vocabulary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    tiny.save_model(tiny.make_model("bert", vocabulary), vocabulary, folder)
    return folder


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def expect_n_best(ours, theirs):
    assert list(ours) == list(theirs)
    for name, entries in theirs.items():
        assert len(ours[name]) == len(entries)
        for mine, other in zip(ours[name], entries):
            assert list(mine) == list(other)
            assert mine.pop("probability") == pytest.approx(other.pop("probability"), rel=PRECISION, abs=1e-12)
            assert mine == other


@pytest.mark.parametrize("n_best_size,max_answer_length", [(20, 30), (6, 3)])
def test_predictions_and_scores(model, texts, n_best_size, max_answer_length, tmp_path):
    out = tmp_path / "out"
    rows, logits = tiny.evaluate(model, texts, out, "--max_seq_length", 128, "--doc_stride", 40, "--n_best_size",
                                 n_best_size, "--max_answer_length", max_answer_length)
    examples = reference.read_examples(texts)
    predictions, lists = reference.post_process(examples, rows, logits, n_best_size, max_answer_length)
    assert (out / "eval_predictions.json").read_text(encoding="utf-8") == json.dumps(predictions, indent=4) + "\n"
    expect_n_best(read(out / "eval_nbest_predictions.json"), lists)
    wanted = reference.scores(examples, predictions)
    results = read(out / "eval_results.json")
    assert results["eval_exact_match"] == wanted["exact_match"]
    assert results["eval_f1"] == wanted["f1"]
    assert results["eval_samples"] == len(rows)


def test_examples_without_windows_are_answered(model, tmp_path):
    """Cutting the windows leaves the last examples without any; the reference fails on these."""
    out = tmp_path / "out"
    rows, logits = tiny.evaluate(model, tiny.TEXTS["golden"], out, "--max_seq_length", 60, "--doc_stride", 10,
                                 "--max_eval_samples", 9)
    examples = reference.read_examples(tiny.TEXTS["golden"])[:9]
    assert len({row["example_id"] for row in rows}) < 9
    predictions, lists = reference.post_process(examples, rows, logits)
    assert read(out / "eval_predictions.json") == predictions
    assert predictions[examples[-1]["id"]] == "empty"
    expect_n_best(read(out / "eval_nbest_predictions.json"), lists)
