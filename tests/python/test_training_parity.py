"""Loss curves against a plain PyTorch loop around the reference's model."""
import math

import pytest
import tiny
import torch
import transformers

STEPS = 50
TEXTS = tiny.TEXTS["handwritten"]
RECIPE = {"seed": 42, "batch": 4, "rate": 1e-3, "warmup": 5, "decay": 0.1}


def arguments(model, out, samples, accumulate=1):
    return ("--model_name_or_path", model, "--train_file", TEXTS, "--do_train", "--max_train_samples", samples,
            "--max_steps", STEPS, "--per_device_train_batch_size", RECIPE["batch"], "--gradient_accumulation_steps",
            accumulate, "--learning_rate", RECIPE["rate"], "--warmup_steps", RECIPE["warmup"], "--weight_decay",
            RECIPE["decay"], "--seed", RECIPE["seed"], "--logging_steps", 1, "--save_strategy", "no", "--output_dir", out)


def micro_batches(n):
    """Lists of example numbers, epoch after epoch; None behind the last one of an epoch."""
    epoch = 0
    while True:
        order = torch.randperm(n, generator=torch.Generator().manual_seed(RECIPE["seed"] + epoch)).tolist()
        for begin in range(0, n, RECIPE["batch"]):
            yield order[begin:begin + RECIPE["batch"]]
        yield None
        epoch += 1


def groups(n, accumulate):
    """The micro-batches of one training step each; the last step of an epoch may have fewer."""
    group = []
    for batch in micro_batches(n):
        if batch is not None:
            group.append(batch)
        if group and (batch is None or len(group) == accumulate):
            yield group
            group = []


def span_loss(model, rows):
    """Mean over the sequences of the mean of both cross entropies, each sequence unpadded."""
    losses = []
    for row in rows:
        output = tiny.forward(model, row)
        losses += [torch.nn.functional.cross_entropy(output.start_logits, torch.tensor([row["start_positions"]])),
                   torch.nn.functional.cross_entropy(output.end_logits, torch.tensor([row["end_positions"]]))]
    return sum(losses) / len(losses)


def make_optimizer(model):
    """Weights decay, but for biases and layer norms."""
    plain = [values for name, values in model.named_parameters() if name.endswith("bias") or "norm" in name.lower()]
    names = {id(values) for values in plain}
    decayed = [values for values in model.parameters() if id(values) not in names]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": RECIPE["decay"]},
                              {"params": plain, "weight_decay": 0.0}], lr=RECIPE["rate"])


def train_reference(model, rows, accumulate):
    """[(loss, gradient norm, learning rate)] of each step."""
    optimizer = make_optimizer(model.train())
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, RECIPE["warmup"], STEPS)
    curve = []
    for group, _ in zip(groups(len(rows), accumulate), range(STEPS)):
        optimizer.zero_grad()
        losses = [span_loss(model, [rows[index] for index in batch]) for batch in group]
        loss = sum(losses) / len(losses)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        curve.append((loss.item(), norm.item(), schedule.get_last_lr()[0]))
        optimizer.step()
        schedule.step()
    return curve


@pytest.mark.parametrize("samples,accumulate", [(61, 1), (30, 3)])
def test_loss_curve_and_saved_folder(model_folder, samples, accumulate, tmp_path):
    """61 examples in batches of 4 and 30 in groups of three: a short last batch, a short last group."""
    out = tmp_path / "out"
    tiny.run(*arguments(model_folder, out, samples, accumulate), "--save_features", tmp_path / "features",
             "--do_eval", "--validation_file", TEXTS, "--save_logits", tmp_path / "logits")
    rows = tiny.read_features(tmp_path / "features")
    assert len(rows) == samples
    curve = train_reference(tiny.load_model(model_folder), rows, accumulate)
    steps, closing = tiny.log_history(out)
    assert len(steps) == STEPS and len(closing) == 1
    for step, (loss, norm, rate) in zip(steps, curve):
        assert step["loss"] == pytest.approx(loss, rel=1e-3), step
        assert step["grad_norm"] == pytest.approx(norm, rel=1e-3), step
        assert step["learning_rate"] == pytest.approx(rate, rel=1e-6, abs=1e-12), step
    assert steps[-1]["step"] == STEPS
    batches = math.ceil(samples / RECIPE["batch"])
    assert steps[-1]["epoch"] == pytest.approx(STEPS / math.ceil(batches / accumulate), rel=0.05)
    assert curve[-1][0] < 0.9 * curve[0][0]
    expect_saved_logits(out, tmp_path)


def expect_saved_logits(out, tmp_path):
    """The folder loads in the reference, and both compute from it what the run itself evaluated."""
    logits = tiny.read_logits(tmp_path / "logits")
    rows, again = tiny.evaluate(out, TEXTS, tmp_path / "again")
    assert tiny.largest_difference(again, logits) == 0
    assert tiny.largest_difference(logits, tiny.reference_logits(tiny.load_model(out), rows)) <= 1e-4
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    for row in rows[:20]:
        pieces = tokenizer.convert_ids_to_tokens(row["input_ids"])
        assert pieces[0] == "[CLS]" and pieces[-1] == "[SEP]"
