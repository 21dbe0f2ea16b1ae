"""Bad input ends in one clear line and an exit code, and nothing is overwritten."""
import json
import os
import pickle
import re
import resource
import subprocess
import time

import pytest
import tiny
import torch

GOOD = tiny.TEXTS["golden"]


@pytest.fixture(scope="module")
def model(vocabulary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    tiny.save_model(tiny.make_model("distilbert", vocabulary), vocabulary, folder)
    return folder


@pytest.fixture
def copy(model, vocabulary, tmp_path):
    """A model folder to be damaged."""
    tiny.save_model(tiny.load_model(model), vocabulary, tmp_path / "copy")
    return tmp_path / "copy"


def rows(*changes):
    """A flat file of good rows, each changed by a dictionary."""
    good = {"question": "What?", "context": "The mill stands.", "answers": {"text": ["mill"], "answer_start": [4]}}
    return json.dumps({"data": [{"id": f"q{index}", **good, **change} for index, change in enumerate(changes)]})


def expect_error(parts, *arguments, ranks=1, **options):
    """One error line, which has all parts; an exit code that is not 0 and no signal's."""
    launch = ["launch", "-n", str(ranks)] if ranks > 1 else []
    done = subprocess.run([os.environ["YOKE"], *launch, "qa", *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, **options)
    errors = [line for line in done.stderr.splitlines() if line.startswith("yoke: error: ")]
    assert 0 < done.returncode < 128, done.stderr
    assert len(errors) == 1, done.stderr
    for part in parts:
        assert part in errors[0]
    assert "Sanitizer" not in done.stderr


def train(model, file, out, *more):
    return ("--model_name_or_path", model, "--train_file", file, "--do_train", "--output_dir", out, "--max_steps", 3,
            "--per_device_train_batch_size", 2, *more)


DATA = {
    "broken JSON": ('{"data": [\n{"id": }]}', ["data.json", "line 2, column 8"]),
    "broken line": (json.dumps({"id": "1", "question": "q", "context": "c"}) + '\n{"id": "2"', ["line 2 of", "data.json"]),
    "no rows": ('{"data": []}', ["data.json", "not a single question"]),
    "other JSON": ('{"rows": [1]}', ["data.json", "has no questions"]),
    "missing question": (rows({}, {"question": None}), ["data.json", "question q1", '"question"']),
    "misplaced answer": (rows({}, {"answers": {"text": ["mill"], "answer_start": [5]}}),
                         ["data.json", "question q1", "'mill'", "answer_start 5", "but at 4"]),
    "answer elsewhere": (rows({"answers": {"text": ["barn"], "answer_start": [4]}}), ["question q0", "nowhere"]),
    "same id twice": (rows({}, {"id": "q0"}), ["question q0", "twice"]),
    "unanswerable": (rows({}, {"answers": {"text": [], "answer_start": []}}),
                     ["data.json", "question q1", "--version_2_with_negative"]),
    "long question": (rows({}, {"question": "who " * 500}), ["data.json", "question q1", "max_seq_length"]),
}


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", DATA)
def test_bad_data(model, name, ranks, tmp_path):
    text, parts = DATA[name]
    (tmp_path / "data.json").write_text(text)
    expect_error(parts, *train(model, tmp_path / "data.json", tmp_path / "out"), ranks=ranks)
    assert not (tmp_path / "out/model.safetensors").exists()


def test_missing_files(model, tmp_path):
    expect_error(["/nonexistent/train.json"], *train(model, "/nonexistent/train.json", tmp_path / "out"))
    expect_error(["nonexistent-model"], *train(tmp_path / "nonexistent-model", GOOD, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_wrong_flags(model, tmp_path):
    expect_error(["--doc_srtide", "--doc_stride"], *train(model, GOOD, tmp_path / "out", "--doc_srtide", 5))
    expect_error(["--doc_stride", "--max_seq_length"],
                 *train(model, GOOD, tmp_path / "out", "--doc_stride", 99, "--max_seq_length", 64))
    expect_error(["learning_rate", "fast"], *train(model, GOOD, tmp_path / "out", "--learning_rate", "fast"))
    expect_error(["--version_2_with_negative"], *train(model, GOOD, tmp_path / "out", "--version_2_with_negative"))
    assert not (tmp_path / "out").exists()


def test_vocabulary_that_does_not_fit(copy, tmp_path):
    with open(copy / "vocab.txt", "a", encoding="utf-8") as file:
        file.writelines(f"token{index}\n" for index in range(5000))
    expect_error(["vocab_size"], *train(copy, GOOD, tmp_path / "out"))


@pytest.mark.parametrize("keep", [0, 4, 9, 200, 0.5, 0.999])
def test_truncated_weights(copy, keep, tmp_path):
    data = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(data[:keep if isinstance(keep, int) else int(keep * len(data))])
    expect_error(["model.safetensors"], *train(copy, GOOD, tmp_path / "out"))


class Hostile:
    def __reduce__(self):
        return os.system, ("touch /tmp/yoke-parity-hostile",)


@pytest.mark.parametrize("zipped", [True, False])
def test_hostile_pickle(copy, zipped, tmp_path):
    (copy / "model.safetensors").unlink()
    if zipped:
        torch.save({"qa_outputs.weight": Hostile()}, copy / "pytorch_model.bin")
    else:
        (copy / "pytorch_model.bin").write_bytes(pickle.dumps(Hostile()))
    expect_error(["pytorch_model.bin"], *train(copy, GOOD, tmp_path / "out"))
    assert not os.path.exists("/tmp/yoke-parity-hostile")


def test_somebodys_folder(model, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "letter.txt").write_text("dear reader")
    expect_error(["out", "--overwrite_output_dir"], *train(model, GOOD, out))
    assert [path.name for path in out.iterdir()] == ["letter.txt"]
    tiny.run(*train(model, GOOD, out, "--overwrite_output_dir"))
    assert (out / "letter.txt").read_text() == "dear reader"


def test_diverging_loss(model, tmp_path):
    """The step is named, and the earlier model in the folder stays."""
    out = tmp_path / "out"
    tiny.run(*train(model, GOOD, out))
    before = (out / "model.safetensors").read_bytes()
    expect_error(["step", "loss"], *train(model, GOOD, out, "--learning_rate", 1e38, "--max_grad_norm", 0, "--adam_epsilon",
                                          1, "--overwrite_output_dir", "--max_steps", 20))
    assert (out / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize("strategy", ["steps", "no"])
def test_full_disk(model, strategy, tmp_path):
    """No file may grow beyond 500 kB, as if the disk were full: in a checkpoint or in the final save."""
    out = tmp_path / "out"
    tiny.run(*train(model, GOOD, out, "--save_strategy", "no"))
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    # Python ignores SIGXFSZ; not restoring it makes the program's write fail instead.
    expect_error(["out", "model.safetensors"],
                 *train(model, GOOD, out, "--overwrite_output_dir", "--save_strategy", strategy, "--save_steps", 2),
                 restore_signals=False,
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000)))
    assert (out / "model.safetensors").read_bytes() == before["model.safetensors"]
    assert {path.name for path in out.iterdir()} == set(before)


def test_damaged_model_is_not_scored(copy, tmp_path):
    model = tiny.load_model(copy)
    model.qa_outputs.bias.data[0] = float("nan")
    model.save_pretrained(copy)
    expect_error(["not finite"], "--model_name_or_path", copy, "--validation_file", GOOD, "--do_eval", "--output_dir",
                 tmp_path / "out")
    assert not re.search("results", " ".join(path.name for path in (tmp_path / "out").glob("*")))


def test_context_that_is_no_text(model, tmp_path):
    (tmp_path / "context").write_bytes(b"The mill\0 stands.\n")
    expect_error(["NUL byte at 8"], "--model_name_or_path", model, "--answer", "What?", "--context_file",
                 tmp_path / "context")


def test_malformed_context(model, tmp_path):
    """Malformed bytes count as the tokenizer counts them: the answer is cut at its own ends."""
    (tmp_path / "context").write_bytes(b"\xe2\x82 \x80\x80 The old mill.\n")
    done = subprocess.run([os.environ["YOKE"], "qa", "--model_name_or_path", model, "--context_file",
                           tmp_path / "context", "--max_answer_length", "1", "--answer", "\u2003What stands?"],
                          stdout=subprocess.PIPE, check=True)
    assert b"Question:    What stands?\n" in done.stdout
    answer = re.search(b"Answer:      (.*)\n", done.stdout).group(1)
    assert answer in b"\xe2\x82\x80|\x80|The|old|mill|.".split(b"|")
    assert b"\xc2\xab" + answer + b"\xc2\xbb" in done.stdout


def test_output_that_nobody_takes(model):
    """A full disk behind standard output is an error; a closed stream takes no other file's place."""
    ask = [os.environ["YOKE"], "qa", "--model_name_or_path", str(model), "--answer", "Who?"]
    with open("/dev/full", "w") as full:
        done = subprocess.run([*ask, "--context", "Anna."], stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 7
    assert "standard output" in done.stderr
    waiting = subprocess.Popen([*ask, "--context_file", "-"], stdin=subprocess.PIPE, preexec_fn=lambda: os.close(1))
    try:
        end = time.monotonic() + 60
        link = f"/proc/{waiting.pid}/fd/1"
        while time.monotonic() < end and not (os.path.islink(link) and os.readlink(link) == "/dev/null"):
            time.sleep(0.01)
        assert os.readlink(link) == "/dev/null"
    finally:
        waiting.communicate(b"Anna.", timeout=300)
    assert waiting.returncode == 0


def test_help_is_printed_once():
    assert tiny.run("--help", ranks=2).count("--learning_rate X") == 1


@pytest.mark.parametrize("ranks", [1, 2])
def test_folders_that_cannot_be_written(model, ranks, tmp_path):
    """Told before training, with the system's reason, also by the rank that knows it."""
    expect_error(["/proc/sys", "cannot write into"], *train(model, GOOD, "/proc/sys", "--overwrite_output_dir"), ranks=ranks)
    expect_error(["--output_dir"], *train(model, GOOD, ""), ranks=ranks)
    (tmp_path / "file").touch()
    expect_error(["file"], *train(model, GOOD, tmp_path / "file"), ranks=ranks)


def test_a_killed_run_is_cleared_away(model, tmp_path):
    """Half of a checkpoint is never taken for one, and the next run removes it."""
    out = tmp_path / "out"
    tiny.run(*train(model, GOOD, out, "--save_steps", 2))
    gone = subprocess.Popen(["true"])
    gone.wait()
    half = out / f"checkpoint-9.yoke-tmp-{gone.pid}"
    half.mkdir()
    (half / "vocab.txt").touch()
    os.rename(out / "checkpoint-3", out / "checkpoint-003")
    printed = tiny.run(*train(model, GOOD, out, "--save_steps", 2))
    assert "checkpoint-2" in printed
    assert not half.exists()
    assert (out / "checkpoint-3").is_dir() and (out / "checkpoint-003").is_dir()
