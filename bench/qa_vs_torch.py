"""qa-vs-torch: the same DistilBERT-size model, weights, examples, batches and threads trained by yoke and by
PyTorch + transformers, alternately in one run, fp32, dropout 0.1 on both sides.

Cases: `fp32 full` (every sequence 384 tokens), `fp32 real` (lengths of real questions in windows of 384; PyTorch
pads to 384 as run_qa.py does by default), `peak memory` and `start` (from typing the command until the first training
step). Each side is a fresh process in every round; a step is timed from inside, tokens are real tokens. PyTorch
runs in its fastest documented eager form: SDPA attention, fused AdamW; one warm-up step is not
counted for it, while yoke's first step counts. Figures are medians over the rounds, ratios medians of the rounds' ratios.
"""
import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
REAL_DATA = ROOT.parent / "shared" / "data" / "xquad.en.json"
OWN_DATA = ROOT / "examples" / "qa" / "handwritten.json"
LENGTH, STRIDE, BATCH, SEED = 384, 128, 8, 42


def squad_paragraphs(path):
    with open(path, encoding="utf-8") as file:
        for article in json.load(file)["data"]:
            yield from article["paragraphs"]


def make_model(folder, data_path):
    """A DistilBERT-size folder with random weights and a vocabulary learnt from the texts at hand."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import DistilBertConfig, DistilBertForQuestionAnswering
    texts = []
    for path in {data_path, OWN_DATA}:
        for paragraph in squad_paragraphs(path):
            texts.append(paragraph["context"])
            texts.extend(question["question"] for question in paragraph["qas"])
    tokenizer = BertWordPieceTokenizer(lowercase=True)
    tokenizer.train_from_iterator(texts, vocab_size=30522, min_frequency=1, show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_model(str(folder))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"do_lower_case": True, "model_max_length": 512, "tokenizer_class": "BertTokenizer"}))
    torch.manual_seed(SEED)
    DistilBertForQuestionAnswering(DistilBertConfig(vocab_size=30522)).save_pretrained(folder)


def make_full_data(path, folder, n_examples):
    """Questions of 11 and contexts of 370 words that are one token each: [CLS] 11 [SEP] 370 [SEP] = 384."""
    rng = random.Random(SEED)
    words = [word for word in (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
             if re.fullmatch(r"[a-z]{3,}", word)]
    paragraphs = []
    for i in range(n_examples):
        context = rng.choices(words, k=370)
        at = rng.randrange(360)
        start = len(" ".join(context[:at])) + (at > 0)
        answer = " ".join(context[at:at + 3])
        paragraphs.append({"context": " ".join(context), "qas": [{
            "id": f"full-{i}", "question": " ".join(rng.choices(words, k=11)),
            "answers": [{"text": answer, "answer_start": start}]}]})
    path.write_text(json.dumps({"version": "1.1", "data": [{"title": "full", "paragraphs": paragraphs}]}))


def torch_features(folder, data_path):
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained(folder)
    questions, contexts, answers = [], [], []
    for paragraph in squad_paragraphs(data_path):
        for question in paragraph["qas"]:
            questions.append(question["question"].lstrip())
            contexts.append(paragraph["context"])
            answers.append(question["answers"][0])
    encoded = tokenizer(questions, contexts, truncation="only_second", max_length=LENGTH, stride=STRIDE,
                        return_overflowing_tokens=True, return_offsets_mapping=True, padding="max_length")
    starts, ends = [], []
    for i, example in enumerate(encoded["overflow_to_sample_mapping"]):
        sequence = encoded.sequence_ids(i)
        offsets = encoded["offset_mapping"][i]
        context = [j for j, part in enumerate(sequence) if part == 1]
        begin = answers[example]["answer_start"]
        end = begin + len(answers[example]["text"])
        if offsets[context[0]][0] > begin or offsets[context[-1]][1] < end:
            starts.append(0)
            ends.append(0)
        else:
            starts.append(max(j for j in context if offsets[j][0] <= begin))
            ends.append(min(j for j in context if offsets[j][1] >= end))
    return encoded, starts, ends


def torch_worker(args):
    """The peer's side of one round: prints one JSON line."""
    import torch
    from transformers import AutoModelForQuestionAnswering, get_linear_schedule_with_warmup
    torch.set_num_threads(args.threads)
    torch.manual_seed(SEED)
    model = AutoModelForQuestionAnswering.from_pretrained(args.model, attn_implementation="sdpa")
    encoded, starts, ends = torch_features(args.model, args.data)
    ids = torch.tensor(encoded["input_ids"])
    mask = torch.tensor(encoded["attention_mask"])
    starts, ends = torch.tensor(starts), torch.tensor(ends)
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(SEED))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.0, fused=True)
    schedule = get_linear_schedule_with_warmup(optimizer, 0, args.steps + 1)
    model.train()
    started_training = time.time()
    n_tokens = 0
    for step in range(args.steps + 1):
        if step == 1:
            started = time.perf_counter()
        rows = order[(step * BATCH) % len(ids):][:BATCH]
        loss = model(input_ids=ids[rows], attention_mask=mask[rows], start_positions=starts[rows],
                     end_positions=ends[rows]).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        n_tokens += int(mask[rows].sum()) if step > 0 else 0
    seconds = time.perf_counter() - started
    print(json.dumps({"tokens_per_second": n_tokens / seconds, "first_step_at": started_training}))


def run_child(command, environment):
    """Runs a command; returns (standard output, standard error with arrival times, peak MiB, time of start)."""
    started = time.time()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
    lines = [(time.time(), line) for line in child.stderr]
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n" + "".join(line for _, line in lines))
    return output, lines, usage.ru_maxrss / 1024, started


def run_torch(args, environment, model, data):
    output, _, peak, started = run_child(
        [sys.executable, __file__, "--torch-worker", "--model", str(model), "--data", str(data),
         "--steps", str(args.steps), "--threads", str(args.threads)], environment)
    result = json.loads(output.strip().splitlines()[-1])
    return {"rate": result["tokens_per_second"], "peak": peak, "start": result["first_step_at"] - started}


def run_yoke(args, environment, model, data, output_dir):
    _, lines, peak, started = run_child(
        [args.yoke, "qa", "--model_name_or_path", str(model), "--train_file", str(data), "--do_train",
         "--per_device_train_batch_size", str(BATCH), "--max_steps", str(args.steps), "--seed", str(SEED),
         "--max_seq_length", str(LENGTH), "--doc_stride", str(STRIDE), "--save_strategy", "no",
         "--output_dir", str(output_dir), "--overwrite_output_dir",
         "--include_num_input_tokens_seen"], environment)
    first = next(at for at, line in lines if "***** Running training *****" in line)
    results = json.loads((output_dir / "train_results.json").read_text())
    return {"rate": results["train_tokens_per_second"], "peak": peak, "start": first - started}


def row(case, unit, pairs, key, higher_is_better):
    yoke = [pair[0][key] for pair in pairs]
    peer = [pair[1][key] for pair in pairs]
    ratios = [a / b if higher_is_better else b / a for a, b in zip(yoke, peer)]
    return {"case": case, "unit": unit, "yoke": statistics.median(yoke), "peer": statistics.median(peer),
            "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios),
            "rounds": len(pairs)}


def compare(args):
    work = pathlib.Path(args.out).resolve().parent / "qa-vs-torch"
    model = work / "model"
    real = REAL_DATA if REAL_DATA.exists() else OWN_DATA
    full = work / "full.json"
    if not (model / "model.safetensors").exists():
        make_model(model, real)
    make_full_data(full, model, BATCH * (args.steps + 1))
    environment = dict(os.environ, OMP_NUM_THREADS=str(args.threads), HF_HUB_OFFLINE="1")
    pairs = {"fp32 full": [], "fp32 real": []}
    for turn in range(args.rounds):
        for case, data in (("fp32 full", full), ("fp32 real", real)):
            yoke = run_yoke(args, environment, model, data, work / "out")
            peer = run_torch(args, environment, model, data)
            pairs[case].append((yoke, peer))
            print(f"round {turn + 1} {case}: yoke {yoke['rate']:.0f}, PyTorch {peer['rate']:.0f} tokens/s",
                  flush=True)
    rows = [row(case, "tokens/s", pairs[case], "rate", True) for case in pairs]
    rows += [row(f"peak memory {case[5:]}", "MiB", pairs[case], "peak", False) for case in pairs]
    rows.append(row("start", "s", pairs["fp32 real"], "start", False))
    print(f"{'case':<20} {'unit':<9} {'yoke':>9} {'PyTorch':>9} {'ratio':>6}  (min to max of the rounds)")
    for entry in rows:
        print(f"{entry['case']:<20} {entry['unit']:<9} {entry['yoke']:>9.2f} {entry['peer']:>9.2f} "
              f"{entry['ratio']:>6.2f}  ({entry['ratio_min']:.2f} to {entry['ratio_max']:.2f})")
    pathlib.Path(args.out).write_text(json.dumps(rows, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--yoke")
    parser.add_argument("--out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--torch-worker", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--data")
    args = parser.parse_args()
    torch_worker(args) if args.torch_worker else compare(args)


main()
