#!/usr/bin/env python3
"""Model folders in every form that users have, made by the reference (torch 2.13.0, transformers 5.15.1,
safetensors 0.8.0):

    python3 tests/golden/checkpoint/make.py

Folders hold the same DistilBERT or the same BERT; expected.safetensors, where there is one, holds the values that
must come out of the folder, as fp32. hostile/ holds archives that must be refused."""
import io
import json
import pathlib
import pickle
import shutil
import sys
import zipfile

import torch
from safetensors.torch import save_file
from transformers import (BertConfig, BertForQuestionAnswering, BertModel, DistilBertConfig,
                          DistilBertForQuestionAnswering, set_seed)

HERE = pathlib.Path(__file__).resolve().parent
DISTILBERT = dict(vocab_size=30, dim=16, n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=20)
# 2 types of width 6: a tensor of 12 elements takes the generator's short path; odd sizes redraw their tails.
BERT = dict(vocab_size=11, hidden_size=6, num_hidden_layers=2, num_attention_heads=2, intermediate_size=9,
            max_position_embeddings=7, pad_token_id=3)


def folder(name):
    path = HERE / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def save_expected(path, state):
    save_file({k: v.detach().float().contiguous().clone() for k, v in state.items()},
              path / "expected.safetensors", metadata={"format": "pt"})


def bin_folder(name, config, state, **options):
    path = folder(name)
    config.save_pretrained(path)
    torch.save(state, path / "pytorch_model.bin", **options)
    return path


def fresh(cls, config_cls, values, name):
    """A model from its configuration: what fresh values must be after set_seed(42)."""
    set_seed(42)
    model = cls(config_cls(**values))
    model.save_pretrained(folder(name))
    return model


def randomize(model):
    """Biases and norms differ from their start, or a lost one would not show."""
    torch.manual_seed(7)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model


def mixed_types(state):
    types = [torch.float16, torch.bfloat16, torch.float64, torch.float32]
    return {k: v.to(types[i % 4]) for i, (k, v) in enumerate(state.items())}


def views(state):
    """One flat storage for half of the tensors, transposed and sliced views, parameters, a shared tensor."""
    flat = torch.cat([v.flatten() for v in state.values()])
    result, at = {}, 0
    for i, (name, value) in enumerate(state.items()):
        if i % 4 == 0:
            result[name] = flat[at:at + value.numel()].view(value.shape)
        elif i % 4 == 1 and value.dim() == 2:
            result[name] = value.t().contiguous().t()
        elif i % 4 == 2 and value.dim() == 1:
            wide = torch.zeros(value.numel(), 3)
            wide[:, 1] = value
            result[name] = wide[:, 1]
        else:
            result[name] = torch.nn.Parameter(value.clone())
        at += value.numel()
    return result


def member(name):
    """A fixed date, so that the same bytes come out again (but for legacy.bin, which holds addresses)."""
    return zipfile.ZipInfo(name)


def deflate(source, target):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(member(info.filename), old.read(info), zipfile.ZIP_DEFLATED)


def bin_shards(path, state):
    names, weight_map = list(state), {}
    for i, part in enumerate((names[::2], names[1::2]), 1):
        file_name = f"pytorch_model-{i:05d}-of-00002.bin"
        torch.save({k: state[k] for k in part}, path / file_name)
        weight_map.update({k: file_name for k in part})
    size = sum(v.numel() * v.element_size() for v in state.values())
    (path / "pytorch_model.bin.index.json").write_text(
        json.dumps({"metadata": {"total_size": size}, "weight_map": weight_map}, indent=2) + "\n")


def base_models(distilbert, bert):
    """Base models have no prefix and no head; the head is what the reference draws for it."""
    path = folder("distilbert-base")
    distilbert.distilbert.save_pretrained(path)
    set_seed(42)
    save_expected(path, DistilBertForQuestionAnswering.from_pretrained(path).state_dict())
    base = BertModel(bert.config)
    base.load_state_dict(bert.bert.state_dict(), strict=False)
    state = {k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v
             for k, v in base.state_dict().items()}
    state["embeddings.position_ids"] = torch.arange(7).unsqueeze(0)
    path = bin_folder("bert-base-gamma", bert.config, state)
    set_seed(42)
    save_expected(path, BertForQuestionAnswering.from_pretrained(path).state_dict())


class Evil:
    def __reduce__(self):
        import os
        return (os.system, ("echo this must never run",))


def hostile():
    path = folder("hostile")
    with zipfile.ZipFile(path / "system.bin", "w") as archive:
        archive.writestr(member("archive/data.pkl"), pickle.dumps({"weight": Evil()}, protocol=2))
        archive.writestr(member("archive/version"), "3\n")
    torch.save({"weight": torch.ones(3)}, path / "legacy.bin", _use_new_zipfile_serialization=False)
    good = io.BytesIO()
    torch.save({"weight": torch.ones(3)}, good)
    with zipfile.ZipFile(good) as old:
        members = {i.filename: old.read(i) for i in old.infolist()}
    for name, edit in {
            "missing_storage.bin": lambda m: {k: v for k, v in m.items() if not k.endswith("data/0")},
            "short_storage.bin": lambda m: {k: v[:8] if k.endswith("data/0") else v for k, v in m.items()},
            "big_endian.bin": lambda m: {k: b"big" if k.endswith("byteorder") else v for k, v in m.items()},
            "no_pickle.bin": lambda m: {k: v for k, v in m.items() if not k.endswith("data.pkl")},
    }.items():
        with zipfile.ZipFile(path / name, "w") as archive:
            for file_name, data in edit(members).items():
                archive.writestr(member(file_name), data)


def main():
    distilbert = fresh(DistilBertForQuestionAnswering, DistilBertConfig, DISTILBERT, "distilbert-fresh")
    bert = fresh(BertForQuestionAnswering, BertConfig, BERT, "bert-fresh")
    fresh(DistilBertForQuestionAnswering, DistilBertConfig, DISTILBERT | dict(sinusoidal_pos_embds=True, n_layers=1),
          "distilbert-sinusoidal")
    randomize(distilbert).save_pretrained(folder("distilbert"))
    randomize(bert).save_pretrained(folder("bert"))
    state = {k: v.detach() for k, v in distilbert.state_dict().items()}
    distilbert.save_pretrained(folder("distilbert-sharded"), max_shard_size="6KB")
    source = bin_folder("distilbert-bin", distilbert.config, distilbert.state_dict())
    deflate(source / "pytorch_model.bin", bin_folder("distilbert-deflated", distilbert.config, {}) / "pytorch_model.bin")
    path = folder("distilbert-bin-sharded")
    distilbert.config.save_pretrained(path)
    bin_shards(path, state)
    bin_folder("distilbert-views", distilbert.config, views(state))
    mixed = mixed_types(state)
    save_expected(bin_folder("distilbert-mixed-bin", distilbert.config, mixed), mixed)
    path = folder("distilbert-mixed")
    distilbert.config.save_pretrained(path)
    save_file(mixed, path / "model.safetensors", metadata={"format": "pt"})
    save_expected(path, mixed)
    base_models(distilbert, bert)
    hostile()
    return 0


if __name__ == "__main__":
    sys.exit(main())
