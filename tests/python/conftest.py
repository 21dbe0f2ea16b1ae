"""Fixtures of the parity tests: the texts, a vocabulary of our own, and model folders with random weights.

The program under test is named by the environment variable YOKE (default: build/release/yoke of this checkout).
"""
import os

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import tiny  # noqa: E402

os.environ.setdefault("YOKE", str(tiny.CHECKOUT / "build/release/yoke"))


def pytest_configure(config):
    tiny.torch.set_num_threads(1)
    config.addinivalue_line("filterwarnings", "ignore:Deprecated in 0.9.0:DeprecationWarning")  # transformers' own


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory):
    """A tokenizer folder for all texts there are."""
    folder = tmp_path_factory.mktemp("vocabulary")
    tiny.write_vocabulary(folder, [path for path in tiny.TEXTS.values() if path.exists()])
    return folder


@pytest.fixture(scope="session", params=["distilbert", "bert"])
def family(request):
    return request.param


@pytest.fixture(scope="session")
def model_folder(family, vocabulary, tmp_path_factory):
    """A model with random weights as the reference saves it."""
    folder = tmp_path_factory.mktemp(family)
    tiny.save_model(tiny.make_model(family, vocabulary), vocabulary, folder)
    return folder


@pytest.fixture(params=list(tiny.TEXTS))
def texts(request):
    """The path of a SQuAD file, for each that is there."""
    path = tiny.TEXTS[request.param]
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path
