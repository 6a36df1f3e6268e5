"""Summaries of files, as the command line makes them."""

import pytest

from cape.files import monitor_files, predict_file
from cape.report._batch import batch_summary
from cape.report._explorer import explorer_summary
from cape.report._made import file_provenance
from cape.report._monitor import monitor_summary


def provenance(model, files=()):
    """Where a page about these files comes from."""
    return file_provenance(model.details, files, fingerprint=model.clf.fingerprint_)


def examine_file(model, path, *, level=0.95):
    """The examination of a file, with what its labels say and where it comes from."""
    predicted = predict_file(model, path, level=level)
    files = [(path.name, predicted.rows, predicted.sha256)]
    predicted.examination.provenance = provenance(model, files)
    return predicted.examination


@pytest.fixture(scope="session")
def batch_of_file():
    """Make the summary of a batch in a file."""

    def make(model, path, *, level=0.95):
        return batch_summary(examine_file(model, path, level=level), title=path.name)

    return make


@pytest.fixture(scope="session")
def monitor_of_files():
    """Make the summary of several files, one a batch."""

    def make(model, paths, *, level=0.95):
        batches = list(monitor_files(model, paths, level=level))
        files = [(batch.name, batch.rows, batch.sha256) for batch in batches]
        return monitor_summary(
            batches, level=level, provenance=provenance(model, files)
        )

    return make


@pytest.fixture(scope="session")
def explorer_of_model():
    """Make the summary of a model file for its explorer."""

    def make(model):
        title = model.details["data"]["file"]
        return explorer_summary(model.clf, title=title, provenance=provenance(model))

    return make
