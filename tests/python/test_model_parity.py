"""Logits against the reference for every form in which a model folder comes."""
import json

import pytest
import tiny
import torch

TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def rows_and_wanted(model_folder, tmp_path_factory):
    """Features of our own texts and the reference's logits for them."""
    rows, _ = tiny.evaluate(model_folder, tiny.TEXTS["handwritten"], tmp_path_factory.mktemp("rows") / "out")
    return rows, tiny.reference_logits(tiny.load_model(model_folder), rows)


def expect_logits(folder, out, rows_and_wanted):
    rows, wanted = rows_and_wanted
    ours, logits = tiny.evaluate(folder, tiny.TEXTS["handwritten"], out)
    assert ours == rows
    assert max(abs(values).max() for pair in wanted for values in pair) > 0.5  # the tolerance means something
    assert tiny.largest_difference(logits, wanted) <= TOLERANCE


def test_logits(model_folder, texts, tmp_path):
    rows, logits = tiny.evaluate(model_folder, texts, tmp_path / "out", "--per_device_eval_batch_size", 7)
    assert tiny.largest_difference(logits, tiny.reference_logits(tiny.load_model(model_folder), rows)) <= TOLERANCE


def test_sharded_safetensors(model_folder, vocabulary, rows_and_wanted, tmp_path):
    tiny.save_model(tiny.load_model(model_folder), vocabulary, tmp_path / "model", max_shard_size="200KB")
    assert (tmp_path / "model/model.safetensors.index.json").exists()
    expect_logits(tmp_path / "model", tmp_path / "out", rows_and_wanted)


def save_bin(model, vocabulary, folder, shards=1, rename=lambda name: name):
    """The older form: what torch.save makes of the state, in one file or several with an index."""
    folder.mkdir()
    model.config.save_pretrained(folder)
    tiny.copy_tokenizer(vocabulary, folder)
    state = {rename(name): values for name, values in model.state_dict().items()}
    if shards == 1:
        torch.save(state, folder / "pytorch_model.bin")
        return
    files = {name: f"pytorch_model-{index % shards + 1:05}-of-{shards:05}.bin" for index, name in enumerate(state)}
    for file in set(files.values()):
        torch.save({name: values for name, values in state.items() if files[name] == file}, folder / file)
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": files}))


@pytest.mark.parametrize("shards", [1, 3])
def test_pytorch_model_bin(model_folder, vocabulary, rows_and_wanted, shards, tmp_path):
    save_bin(tiny.load_model(model_folder), vocabulary, tmp_path / "model", shards)
    expect_logits(tmp_path / "model", tmp_path / "out", rows_and_wanted)


def test_old_names_of_layer_norms(model_folder, vocabulary, rows_and_wanted, tmp_path):
    def rename(name):
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")

    save_bin(tiny.load_model(model_folder), vocabulary, tmp_path / "model", rename=rename)
    expect_logits(tmp_path / "model", tmp_path / "out", rows_and_wanted)


def test_half_precision_files(model_folder, vocabulary, tmp_path):
    """bfloat16 weights on disk are computed with in float32."""
    half = tiny.load_model(model_folder).to(torch.bfloat16)
    tiny.save_model(half, vocabulary, tmp_path / "model")
    rows, logits = tiny.evaluate(tmp_path / "model", tiny.TEXTS["golden"], tmp_path / "out")
    wanted = tiny.reference_logits(half.to(torch.float32), rows)
    assert tiny.largest_difference(logits, wanted) <= TOLERANCE


def test_base_model_folder(model_folder, family, vocabulary, tmp_path):
    """A folder of the encoder alone: the head is fresh, said so, and everything else is what the file has."""
    whole = tiny.load_model(model_folder)
    encoder = whole.base_model
    tiny.save_model(encoder, vocabulary, tmp_path / "model")
    text = tiny.run("--model_name_or_path", tmp_path / "model", "--train_file", tiny.TEXTS["handwritten"], "--do_train",
                    "--max_steps", 1, "--learning_rate", 0, "--output_dir", tmp_path / "out")
    assert "qa_outputs.weight" in text and "newly initialized" in text
    saved = tiny.load_model(tmp_path / "out")
    for name, values in encoder.state_dict().items():
        if "pooler" not in name:
            assert torch.equal(saved.base_model.state_dict()[name], values), name
    assert saved.qa_outputs.bias.abs().max() == 0
    assert 0.01 < saved.qa_outputs.weight.std() < 0.03
