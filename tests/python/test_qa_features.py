"""Windows, offsets and labels of all texts against the reference's tokenizer."""
import pytest
import reference
import tiny
import transformers


@pytest.fixture(scope="module")
def model(vocabulary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    tiny.save_model(tiny.make_model("distilbert", vocabulary), vocabulary, folder)
    return folder


def expect_equal(ours, theirs):
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs):
        assert mine == other


@pytest.mark.parametrize("max_seq_length,doc_stride", [(384, 128), (110, 20)])
def test_evaluation_features(model, vocabulary, texts, max_seq_length, doc_stride, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(vocabulary)
    wanted = reference.features(tokenizer, reference.read_examples(texts), max_seq_length, doc_stride, False)
    ours, _ = tiny.evaluate(model, texts, tmp_path / "out", "--max_seq_length", max_seq_length, "--doc_stride", doc_stride)
    expect_equal(ours, wanted)


@pytest.mark.parametrize("max_seq_length,doc_stride", [(384, 128), (100, 0)])
def test_training_features(model, vocabulary, texts, max_seq_length, doc_stride, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(vocabulary)
    wanted = reference.features(tokenizer, reference.read_examples(texts), max_seq_length, doc_stride, True)
    tiny.run("--model_name_or_path", model, "--train_file", texts, "--do_train", "--max_steps", 1,
             "--per_device_train_batch_size", 1, "--max_seq_length", max_seq_length, "--doc_stride", doc_stride,
             "--save_strategy", "no", "--save_features", tmp_path / "features", "--output_dir", tmp_path / "out")
    ours = tiny.read_features(tmp_path / "features")
    expect_equal(ours, wanted)
    assert any(row["start_positions"] > 0 for row in ours)


def test_samples_are_cut_as_in_the_reference(model, vocabulary, tmp_path):
    """max_eval_samples keeps the first examples and then as many windows."""
    texts = tiny.TEXTS["golden"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(vocabulary)
    wanted = reference.features(tokenizer, reference.read_examples(texts)[:9], 60, 10, False)
    ours, _ = tiny.evaluate(model, texts, tmp_path / "out", "--max_seq_length", 60, "--doc_stride", 10,
                            "--max_eval_samples", 9)
    assert len(wanted) > 9
    expect_equal(ours, wanted[:9])
