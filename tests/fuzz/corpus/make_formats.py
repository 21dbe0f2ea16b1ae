#!/usr/bin/env python3
"""Seeds of the fuzz targets json, safetensors and torch_zip, from the golden folders and by hand:

    python3 tests/fuzz/corpus/make_formats.py

needs torch and safetensors. Small: a fuzzer mutates small inputs best."""
import io
import pathlib
import zipfile

import torch
from safetensors.torch import save

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent.parent / "golden" / "checkpoint"

JSON = {
    "squad": b'{"data": [{"title": "T", "paragraphs": [{"context": "caf\\u00e9 \\ud83d\\ude00", "qas": []}]}]}',
    "lone": b'["a\\ud83d", "\\ude00", "\\u0000", "\\\\u0000"]',
    "overflow": b"[1e400]",
    "numbers": b'[1, -0, 1.5e-7, 1000000000000000019884624838656, -9223372036854775808, 0.1]',
    "bom": b'\xef\xbb\xbf{"a": null, "a": true}',
    "deep": b"[" * 60 + b"]" * 60,
    "broken": b'{"a": [1, 2',
}


def torch_bytes(value, **options):
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file.getvalue()


def pickle_of(archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        return next(old.read(i) for i in old.infolist() if i.filename.endswith("data.pkl"))


def deflated(archive):
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(zipfile.ZipInfo(info.filename), old.read(info), zipfile.ZIP_DEFLATED)
    return file.getvalue()


def main():
    flat = torch.arange(12.0)
    state = {"w": flat[2:8].view(2, 3).t(), "b": torch.nn.Parameter(flat[8:]), "h": torch.ones(2).half(),
             "i": torch.tensor(3)}
    archive = torch_bytes(state)
    torch_zip = {"plain": archive, "deflated": deflated(archive), "pickle": pickle_of(archive),
                 "ordered": pickle_of(torch_bytes(torch.nn.Linear(2, 2).state_dict())),
                 "legacy": torch_bytes({"w": torch.ones(2)}, _use_new_zipfile_serialization=False),
                 "system": (GOLDEN / "hostile" / "system.bin").read_bytes()}
    tensors = {"a": torch.ones(2, 3), "b": torch.zeros(2, dtype=torch.int64), "c": torch.ones(3).bfloat16()}
    whole = save(tensors, metadata={"format": "pt"})
    safetensors = {"whole": whole, "cut": whole[:-3], "empty": save({}), "scalar": save({"s": torch.tensor(1.5)}),
                   "length": b"\xff" * 7 + b"\x7f{}"}
    for target, seeds in {"json": JSON, "safetensors": safetensors, "torch_zip": torch_zip}.items():
        (HERE / target).mkdir(exist_ok=True)
        for name, data in seeds.items():
            (HERE / target / name).write_bytes(data)


if __name__ == "__main__":
    main()
