"""The reference's question-answering job around the model, transcribed from its description.

Features, post-processing and SQuAD v1 metrics of the run_qa example of transformers, in our own words. Tokens
and offsets come from the reference's own fast tokenizer. One thing is done otherwise, on purpose: see `labels`.
"""
import collections
import json
import re
import string

import numpy


def read_examples(path):
    """Nested SQuAD v1.1 -> list of {id, question, context, texts, starts}."""
    with open(path, encoding="utf-8") as file:
        articles = json.load(file)["data"]
    return [
        {
            "id": question["id"],
            "question": question["question"],
            "context": paragraph["context"],
            "texts": [answer["text"] for answer in question["answers"]],
            "starts": [answer["answer_start"] for answer in question["answers"]],
        }
        for article in articles
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]


def labels(offsets, context, begin, end):
    """Token positions of the characters [begin, end), or (0, 0) when the window does not hold them all.

    The reference walks to the start over every following token whose offset is not behind `begin`: in the
    window's last token the walk leaves the window, for [SEP] and padding have offset 0, and the label lands on
    the last padded position. Here the walk ends with the window.
    """
    if not context or offsets[context[0]][0] > begin or offsets[context[-1]][1] < end:
        return 0, 0
    start = context[0]
    for index in context:
        if offsets[index][0] > begin:
            break
        start = index
    stop = context[-1]
    for index in reversed(context):
        if offsets[index][1] < end:
            break
        stop = index
    return start, stop


def features(tokenizer, examples, max_seq_length, doc_stride, training):
    """One dictionary a window, in the form of --save_features."""
    rows = []
    for example in examples:
        encoded = tokenizer(
            example["question"].lstrip(),
            example["context"],
            truncation="only_second",
            max_length=max_seq_length,
            stride=doc_stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        for window in range(len(encoded["input_ids"])):
            sequence = encoded.sequence_ids(window)
            offsets = encoded["offset_mapping"][window]
            context = [index for index, part in enumerate(sequence) if part == 1]
            start, end = 0, 0
            if training:
                begin = example["starts"][0]
                start, end = labels(offsets, context, begin, begin + len(example["texts"][0]))
            ids = encoded["input_ids"][window]
            rows.append({
                "example_id": example["id"],
                "input_ids": ids,
                "token_type_ids": (encoded["token_type_ids"][window] if "token_type_ids" in encoded
                                   else [int(index > sequence.index(None, 1)) for index in range(len(ids))]),
                "offsets": [list(pair) if part == 1 else None for part, pair in zip(sequence, offsets)],
                "start_positions": start,
                "end_positions": end,
            })
    return rows


def highest(logits, count):
    """The tokens of the `count` highest logits: an ascending stable sort read backwards."""
    return numpy.argsort(logits, kind="stable")[::-1][:count].tolist()


def window_candidates(row, start_logits, end_logits, n_best_size, max_answer_length):
    offsets = row["offsets"]
    for start in highest(start_logits, n_best_size):
        for end in highest(end_logits, n_best_size):
            if offsets[start] is None or offsets[end] is None:
                continue
            if start <= end < start + max_answer_length:
                yield {
                    "span": (offsets[start][0], offsets[end][1]),
                    "score": start_logits[start] + end_logits[end],
                    "start_logit": start_logits[start],
                    "end_logit": end_logits[end],
                }


def nbest(example, rows, logits, n_best_size, max_answer_length):
    """The example's n-best list; `logits` holds a (start, end) pair of float32 arrays for each of its rows."""
    found = [candidate for row, (start, end) in zip(rows, logits)
             for candidate in window_candidates(row, start, end, n_best_size, max_answer_length)]
    found = sorted(found, key=lambda candidate: -candidate["score"])[:n_best_size]
    entries = [{
        "start_logit": candidate["start_logit"],
        "end_logit": candidate["end_logit"],
        "text": example["context"][slice(*candidate["span"])],
        "score": candidate["score"],
    } for candidate in found]
    if not entries or (len(entries) == 1 and entries[0]["text"] == ""):
        entries.insert(0, {"text": "empty", "start_logit": 0.0, "end_logit": 0.0, "score": 0.0})
    scores = numpy.array([entry.pop("score") for entry in entries])
    weights = numpy.exp(scores - scores.max())
    for entry, probability in zip(entries, weights / weights.sum()):
        entry["probability"] = probability
    return [{key: value if isinstance(value, str) else float(value) for key, value in entry.items()}
            for entry in entries]


def post_process(examples, rows, logits, n_best_size=20, max_answer_length=30):
    """(predictions, n-best lists), both keyed by id, in the order of the examples."""
    by_example = collections.defaultdict(list)
    for index, row in enumerate(rows):
        by_example[row["example_id"]].append(index)
    lists = {}
    for example in examples:
        own = by_example[example["id"]]
        lists[example["id"]] = nbest(example, [rows[i] for i in own], [logits[i] for i in own],
                                     n_best_size, max_answer_length)
    return {name: entries[0]["text"] for name, entries in lists.items()}, lists


def normalize(text):
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def pair_scores(answer, gold):
    """(exact match, F1) of one answer against one gold text, each from 0 to 1."""
    answer, gold = normalize(answer), normalize(gold)
    common = sum((collections.Counter(answer.split()) & collections.Counter(gold.split())).values())
    if common == 0:
        return float(answer == gold), 0.0
    precision = common / len(answer.split())
    recall = common / len(gold.split())
    return float(answer == gold), 2 * precision * recall / (precision + recall)


def scores(examples, predictions):
    """{exact_match, f1} in percent."""
    pairs = [[pair_scores(predictions[example["id"]], gold) for gold in example["texts"]] for example in examples]
    return {
        "exact_match": 100.0 * sum(max(exact for exact, _ in pair) for pair in pairs) / len(pairs),
        "f1": 100.0 * sum(max(f1 for _, f1 in pair) for pair in pairs) / len(pairs),
    }
