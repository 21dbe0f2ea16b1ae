"""Makes the golden files of the question-answering task with the reference's tokenizer.

    python tests/golden/qa/make.py

Versions: the pins of tests/python/requirements.txt. No randomness. README.md says what each file is.
"""
import collections
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))

import numpy  # noqa: E402
import reference  # noqa: E402
import transformers  # noqa: E402

# (context, [(question, answers...)]). An answer is found by its first occurrence; "text@n" by its n-th.
TEXTS = [
    ("The mill stands on the river Lune. It was built in 1782 by Ada Crane, who ground oats and barley there. "
     "Her son Tom sold the mill in 1831 to a weaver from the next valley, and the wheel has not turned since.",
     [("Where does the mill stand?", "on the river Lune", "the river Lune"),
      ("  \u00a0\u3000When was the mill built?", "1782"),
      ("Who sold it?", "Tom", "Her son Tom"),
      ("What has not turned since?", "the wheel", "wheel"),
      ("What is the very last word of this text?", "since")]),
    ("A lighthouse keeper trims the lamp, winds the clockwork, polishes the lens, writes the log, paints the "
     "railing, feeds the hens, mends the boat, watches the weather, answers the signals and sleeps by day.",
     [("What does the keeper do at night so that the ships far out at sea can find their way past the rocks?",
       "trims the lamp"),
      ("When does the keeper sleep?", "by day"),
      ("Who?", "A lighthouse keeper")]),
    ("na\u00efve and nai\u0308ve are one word in two spellings; caf\u00e9, cafe\u0301 and CAF\u00c9 are three.",
     [("How is it spelt?", "nai\u0308ve"), ("Which cafe is loud?", "CAF\u00c9"), ("Which has a mark?", "cafe\u0301")]),
    ("\u0130stanbul lies on the Bosporus. \u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3 came home late. Stra\u00dfe "
     "and STRA\u1e9eE; \u212bngstr\u00f6m measured \u2126 and \u212a.",
     [("Which city lies there?", "\u0130stanbul"), ("Who came home?", "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3"),
      ("Which street?", "STRA\u1e9eE"), ("What was measured?", "\u2126 and \u212a")]),
    ("Ti\u1ebfng Vi\u1ec7t c\u00f3 s\u00e1u thanh. Ti\u0065\u0323\u0302ng stands with marks apart. \u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22"
     "\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48 \u0939\u093f\u0928\u094d\u0926\u0940 \u0643\u0650\u062a\u064e\u0627\u0628 \u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd.",
     [("How many tones?", "s\u00e1u"), ("Which word is Thai?", "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22"),
      ("Which word is Hindi?", "\u0939\u093f\u0928\u094d\u0926\u0940"), ("And Hebrew?", "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd")]),
    ("\ud55c\uad6d\uc5b4\ub294 \uc5b4\ub835\ub2e4. \u304c\u3068\u304b\u3099\u306f\u540c\u3058\u3002\u6771\u4eac\u306f"
     "\u65e5\u672c\u306e\u9996\u90fd\u3067\u3059\u3002 \U00020000\u6f22\U0002b820\u5b57\U00030000 \uf900.",
     [("Which language?", "\ud55c\uad6d\uc5b4"), ("Which city?", "\u6771\u4eac"), ("Which kana?", "\u304b\u3099"),
      ("Which rare signs?", "\U0002b820\u5b57\U00030000"), ("Which one is compatible?", "\uf900")]),
    ("The family \U0001f468\u200d\U0001f469\u200d\U0001f467 waved \U0001f44b\U0001f3fd and the flag \U0001f1eb\U0001f1f7 flew; "
     "it cost \u20ac50, \u2122 and \u00a9 included \u2014 \u201cquite a lot\u201d, she said... !!??",
     [("Who waved?", "The family \U0001f468\u200d\U0001f469\u200d\U0001f467"), ("What did it cost?", "\u20ac50"),
      ("What did she say?", "quite a lot"), ("Which flag?", "\U0001f1eb\U0001f1f7")]),
    ("zero\u200bwidth soft\u00adhyphen bom\ufeffin\ufffdside line\u2028sep mongol\u180esep vt\u000bff\u000cnel\u0085end "
     "private\ue000use none\u0378assigned non\ufffechar tab\there cr\r\nlf.",
     [("Which has no width?", "zero\u200bwidth"), ("Which hyphen?", "soft\u00adhyphen"), ("Which side?", "in\ufffdside"),
      ("Which tab?", "tab\there"), ("Which end?", "vt\u000bff\u000cnel\u0085end")]),
    ("We write [MASK] and [CLS] and foo[SEP]bar literally, ##ing too, and [sep] is no token. " + "x" * 100 + " " + "x" * 101
     + " are long words. The unbelievableness ends.",
     [("What comes first?", "[MASK]"), ("Is there a piece?", "##ing"), ("What is joined?", "foo[SEP]bar"),
      ("How long?", "x" * 100), ("What ends?", "believable")]),
    ("one.", [("Which?", "one"), ("Is it short?", "one.")]),
    ("\u200b\u200d\ufeff", [("Is there anything?", "\u200d")]),
    (" \u00a0 ", [("Only blanks?", "\u00a0")]),
]

CONFIGURATIONS = [  # name, max_seq_length, doc_stride, n_best_size, max_answer_length
    ("long", 128, 32, 8, 30),
    ("short", 40, 8, 5, 4),
    ("tight", 34, 0, 3, 30),
]


def find(context, answer):
    begin = context.index(answer)
    return {"text": answer, "answer_start": begin}


def write(name, text):
    (HERE / name).write_text(text, encoding="utf-8", newline="\n")


def make_texts():
    paragraphs = [{
        "context": context,
        "qas": [{
            "id": f"golden-{number:02}-{index}",
            "question": question,
            "answers": [find(context, answer) for answer in answers],
        } for index, (question, *answers) in enumerate(questions)],
    } for number, (context, questions) in enumerate(TEXTS)]
    write("texts.json", json.dumps({"version": "1.1", "data": [{"title": "golden", "paragraphs": paragraphs}]},
                                   indent=1) + "\n")


def make_vocabulary():
    """Special tokens, every character as a word and as a piece, plain words, and some pieces.

    A few characters are left out so that words with them are unknown; longer words fall into pieces."""
    backend = transformers.models.bert.tokenization_bert.BertTokenizer(
        vocab={"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}).backend_tokenizer
    words = collections.Counter()
    for context, questions in TEXTS:
        for text in [context, *(question for question, *_ in questions)]:
            normal = backend.normalizer.normalize_str(text)
            words.update(word for word, _ in backend.pre_tokenizer.pre_tokenize_str(normal))
    letters = sorted({letter for word in words for letter in word} - set("\u20ac\U0001f467"))
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens += letters + ["##" + letter for letter in letters]
    tokens += sorted(word for word in words if word.isascii() and 1 < len(word) < 8)
    tokens += ["un", "##believ", "##able", "##ness", "##ing", "##s", "light", "##house", "clock", "##work"]
    write("vocab.txt", "".join(token + "\n" for token in dict.fromkeys(tokens)))
    write("tokenizer_config.json", json.dumps(
        {"do_lower_case": True, "model_max_length": 512, "tokenizer_class": "BertTokenizer"}, indent=2) + "\n")


def golden_logits(index, row):
    """A (start, end) pair of float32 arrays: 64 levels, so that equal logits and equal scores are common; in
    every other window the labels stand out. tests/unit/learn/task/test_qa_golden.c computes the same."""
    token = numpy.arange(len(row["input_ids"]), dtype=numpy.uint64)
    pair = []
    for column in range(2):
        seed = numpy.uint64(index * 8191 + column * 131) + token * numpy.uint64(31)
        mixed = (seed * numpy.uint64(2654435761)) % numpy.uint64(2**32)
        pair.append(((mixed >> numpy.uint64(26)).astype(numpy.float32) - 32) / 4)
        pair[column][row[("start_positions", "end_positions")[column]]] += 8 * (index % 2)
    return tuple(pair)


def make_outputs():
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(HERE))
    examples = reference.read_examples(HERE / "texts.json")
    for name, max_seq_length, doc_stride, n_best_size, max_answer_length in CONFIGURATIONS:
        rows = reference.features(tokenizer, examples, max_seq_length, doc_stride, True)
        logits = [golden_logits(index, row) for index, row in enumerate(rows)]
        predictions, nbest = reference.post_process(examples, rows, logits, n_best_size, max_answer_length)
        write(f"features_{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        write(f"{name}_predictions.json", json.dumps(predictions, indent=4) + "\n")
        write(f"{name}_nbest_predictions.json", json.dumps(nbest, indent=4) + "\n")
        write(f"scores_{name}.json", json.dumps(reference.scores(examples, predictions)) + "\n")


def make_pairs():
    """Answers that differ only in what the normalisation of the metric removes, or by a little more."""
    pairs = [
        ("The Mill!", "mill"), ("an apple a day", "apple day"), ("a", ""), ("", ""), ("!?", "the"),
        ("theatre", "the atre"), ("the-mill", "mill"), ("\u0398\u0391\u039b\u0391\u03a3\u03a3\u0391\u03a3", "\u03b8\u03b1\u03bb\u03b1\u03c3\u03c3\u03b1\u03c2"),
        ("\u03a3", "\u03c3"), ("A\u03a3'", "a\u03c2"), ("A\u03a3.B", "a\u03c3b"), ("\u0130\u0130", "i\u0307i\u0307"), ("STRA\u1e9eE", "stra\u00dfe"),
        ("a\u0301 bra", "\u0301 bra"), ("\u00e1 a", "\u00e1"), ("a\u00b2", "the\u00b2"), ("the\u2014end", "\u2014end"), ("an\u20acan", "\u20ac"),
        ("red red blue", "red blue blue"), ("one two", "two three four"), ("x\u2003y\u0085z\u001cw", "x y z w"),
        ("in 1782", "1782"), ("twenty-one", "twenty one"), ("_a_", ""), ("\u4e1ca", "\u4e1c"), ("\u24b6", "\u24d0"),
        ("A\u0300\u03a3\u0300", "a\u0300\u03c2\u0300"), ("\u2160\u03a3", "\u2170\u03c2"), ("\u02b0\u03a3", "\u02b0\u03c3"), ("same words here", "here words same"),
    ]
    write("pairs.json", json.dumps([[answer, gold, reference.normalize(answer), *reference.pair_scores(answer, gold)]
                                    for answer, gold in pairs], indent=1) + "\n")


make_texts()
make_vocabulary()
make_outputs()
make_pairs()
