#!/usr/bin/env python3
"""Writes model/vocab.txt from fact_tables.h and handwritten.json. Run by hand after either changes.

Order: special tokens; every printable ASCII character and every ## letter and digit, so that no
ASCII text becomes [UNK]; numbers of two digits, alone and continued (years are two tokens);
syllables of the names; words of the patterns; and the words that the hand-written paragraphs use
twice or more. A syllable that only ends names is no word of its own, so a name is always cut into
the syllables it was joined from.
"""
import collections
import json
import pathlib
import re
import string

HERE = pathlib.Path(__file__).parent
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def table_text():
    text = (HERE / "fact_tables.h").read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"(?m)^#.*$", "", text)


def strings_of(text, name):
    body = re.search(name + r"\[\] = \{(.*?)\};", text, re.S).group(1)
    return re.findall(r'"([^"]*)"', body)


def words_of(text):
    return re.findall(r"[a-z]+", text.lower())


def main():
    text = table_text()
    first = [s for name in ("first_syllables", "person_syllables", "town_syllables")
             for s in strings_of(text, name)]
    endings = [s for name in ("last_syllables", "town_endings", "made_endings")
               for s in strings_of(text, name)]
    bodies = re.sub(r"(last_syllables|town_endings|made_endings)\[\] = \{.*?\};", "", text,
                    flags=re.S)
    pattern_words = [w for s in re.findall(r'"([^"]*)"', bodies)
                     for w in words_of(re.sub("%[SA]", " ", s))]

    counts = collections.Counter()
    for part in json.loads((HERE / "handwritten.json").read_text())["data"]:
        for paragraph in part["paragraphs"]:
            counts.update(words_of(paragraph["context"]))
            for qa in paragraph["qas"]:
                counts.update(words_of(qa["question"]))
    prose = sorted(w for w, n in counts.items() if n >= 2)

    printable = [c for c in string.printable if c.isprintable() and not c.isspace()
                 and not c.isupper()]
    tokens = SPECIAL + sorted(printable)
    tokens += ["##" + c for c in string.digits + string.ascii_lowercase]
    tokens += ["%02d" % i for i in range(100)] + ["##%02d" % i for i in range(100)]
    tokens += first + ["##" + s for s in endings] + pattern_words
    # A word of the prose that begins a name would swallow its first syllable.
    names = [f + e for f in first for e in endings]
    tokens += [w for w in prose if not any(n.startswith(w) for n in names)]
    (HERE / "model" / "vocab.txt").write_text("\n".join(dict.fromkeys(tokens)) + "\n")


if __name__ == "__main__":
    main()
