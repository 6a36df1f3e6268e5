"""Files that others publish: found, downloaded, verified, kept."""

import hashlib
from pathlib import Path

import pytest

from cape.datasets import _files

CONTENT = b"a,b\n1,2\n"
NAME = "some/table.csv"
URL = "https://example.org/table.csv"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FILE = (NAME, URL, SHA256)


@pytest.fixture
def network(monkeypatch):
    """A network that serves the content a test sets, or raises it, and counts."""
    served = {"asked": 0, "content": CONTENT}

    def fetch(url, name, pooch):
        served["asked"] += 1
        if isinstance(served["content"], Exception):
            Path(name).write_bytes(CONTENT[:3])
            raise served["content"]
        Path(name).write_bytes(served["content"])

    monkeypatch.setattr("pooch.HTTPDownloader", lambda timeout: fetch)
    return served


def files_below(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


def test_downloads_once_and_then_needs_no_network(tmp_path, network):
    first = _files.get_file(*FILE, tmp_path)
    assert first.read_bytes() == CONTENT
    network["content"] = AssertionError("the network was used a second time")
    assert _files.get_file(*FILE, tmp_path) == first
    assert network["asked"] == 1
    assert files_below(tmp_path) == ["table.csv"]


def test_wrong_checksum_leaves_no_file_and_says_what_to_do(tmp_path, network):
    network["content"] = b"something else"
    with pytest.raises(OSError, match="does not match the known hash") as caught:
        _files.get_file(*FILE, tmp_path)
    message = str(caught.value)
    assert URL in message and str(tmp_path / NAME) in message and SHA256 in message
    assert "CAPE_DATA" in message
    assert files_below(tmp_path) == []


@pytest.mark.parametrize(
    "error", [ConnectionError("no route"), TimeoutError("slow"), ValueError("odd")]
)
def test_no_network_leaves_no_half_file_and_says_what_to_do(tmp_path, network, error):
    network["content"] = error
    with pytest.raises(
        OSError,
        match=f"table.csv could not be downloaded: {error}. Download {URL}",
    ):
        _files.get_file(*FILE, tmp_path)
    assert files_below(tmp_path) == []


def test_interrupted_download_leaves_no_half_file(tmp_path, monkeypatch):
    def fetch(url, name, pooch):
        Path(name).write_bytes(CONTENT[:3])
        raise KeyboardInterrupt

    monkeypatch.setattr("pooch.HTTPDownloader", lambda timeout: fetch)
    with pytest.raises(KeyboardInterrupt):
        _files.get_file(*FILE, tmp_path)
    assert files_below(tmp_path) == []


def test_a_damaged_file_in_the_folder_is_told_and_left_alone(tmp_path, network):
    path = tmp_path / NAME
    path.parent.mkdir()
    path.write_bytes(b"damaged")
    with pytest.raises(
        OSError, match=r"table.csv has sha256 .* Download https://example.org"
    ):
        _files.get_file(*FILE, tmp_path)
    assert path.read_bytes() == b"damaged"
    assert network["asked"] == 0


def test_without_pooch_the_error_says_so(tmp_path, hide_package):

    hide_package("pooch")
    with pytest.raises(OSError, match=r"needs pooch, .* pip install"):
        _files.get_file(*FILE, tmp_path)


def test_pooch_itself_fetches_from_a_server(tmp_path):
    """The real downloader against a server of our own."""
    import http.server
    import threading

    class Serve(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(CONTENT)

        def log_message(self, *arguments):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Serve) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/table.csv"
        file = _files.get_file(NAME, url, SHA256, tmp_path)
        assert file.read_bytes() == CONTENT
        thread.join()


def test_the_folder_is_the_one_given_then_the_variable_then_a_cache(tmp_path, environ):
    environ("CAPE_DATA", str(tmp_path / "variable"))
    assert _files.data_folder(tmp_path) == tmp_path
    assert _files.data_folder() == tmp_path / "variable"
    environ("CAPE_DATA", None)
    assert _files.data_folder() == Path.home() / ".cache" / "cape"
