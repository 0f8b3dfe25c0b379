"""Connections that ask nothing, or too slowly, do not stay; those that ask do."""

import logging
import socket
import time

import pytest

from serving import served
from smoothcert.serve import Limits

HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SHORT = 0.5  # seconds


@pytest.fixture
def hurried(model, tmp_path):
    with served({"digits": model}, tmp_path, limits=Limits(requests=1, head_seconds=SHORT)) as service:
        yield service


def connect(service):
    host, _, port = service.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def is_closed(connection):
    """Wait for the other side to end a connection."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def drip(connection, seconds):
    """Send header after header, slowly."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(SHORT / 5)
        connection.sendall(b"X: x\r\n")


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HT", HEAD, HEAD + b"X: " + b"x" * 1_000])
def test_a_head_that_does_not_end_is_not_waited_for(sent, hurried):
    with connect(hurried) as connection:
        begin = time.monotonic()
        connection.sendall(sent)
        assert is_closed(connection)
        assert time.monotonic() - begin < 10 * SHORT


def test_bytes_now_and_then_do_not_keep_it_open(hurried):
    with connect(hurried) as connection:
        connection.sendall(HEAD)
        with pytest.raises(ConnectionError):
            drip(connection, 10 * SHORT)


def test_the_head_of_a_further_request_has_to_end_too(hurried):
    with connect(hurried) as connection:
        connection.sendall(HEAD + b"\r\n")
        answer = b""
        while not answer.endswith(b'{"status":"ok"}'):
            answer += connection.recv(4_096)
        begin = time.monotonic()
        connection.sendall(HEAD)
        assert is_closed(connection)
        assert time.monotonic() - begin < 4 * SHORT  # by this limit, not by that between requests


def test_an_answer_may_take_longer_than_a_head(hurried, growing, pace):
    pace.hold(2)
    events = hurried.events({"image": growing})
    assert next(events)[0] == "begin"
    time.sleep(2 * SHORT)
    pace.free()
    assert list(events)[-1][0] == "end"


def test_a_connection_too_many_is_turned_away(model, tmp_path):
    limits = Limits(requests=1, head_seconds=60)
    with served({"digits": model}, tmp_path, limits=limits) as service:
        held = [connect(service) for _ in range(limits.connections)]
        try:
            with connect(service) as other:
                assert other.recv(4_096).startswith(b"HTTP/1.1 503 ")
                assert is_closed(other)
        finally:
            for connection in held:
                connection.close()
        deadline = time.monotonic() + 30
        while True:  # until those are gone
            with connect(service) as other:
                other.sendall(HEAD + b"Connection: close\r\n\r\n")
                if other.recv(4_096).startswith(b"HTTP/1.1 200 "):
                    break
            assert time.monotonic() < deadline


def test_the_log_says_how_many_votes_a_stream_took(running, growing, caplog):
    with caplog.at_level(logging.INFO, "smoothcert.serve"):
        (*_, (last, told)) = running.stream(growing, n=640)
        assert last == "end"
        deadline = time.monotonic() + 30
        while not (lines := [one.fields for one in caplog.records if "stream" in one.fields["path"]]):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert lines[0]["votes"] == told["samples"] > 0
    assert lines[0]["certificate"] == told["certificate"]
