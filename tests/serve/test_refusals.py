"""What must not come in, and how it is told."""

import io
import socket
import threading

import numpy as np
import pytest
from PIL import Image

from serving import FIXED, served
from smoothcert.errors import InvalidArgumentError
from smoothcert.serve import ApiKeys, Limits, Options, serve
from smoothcert.serve.served_model import load_models, name_of

KEYS = ["first-key-0123456789", "second-key-0123456789"]


def png(pixels, kind="PNG"):
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, kind)
    return content.getvalue()


def code(answer, status):
    assert answer.status_code == status, answer.text
    return answer.json()["error"]["code"]


def test_a_picture_is_the_same_question_as_its_numbers(running, digits):
    pixels = np.asarray(digits.images[5])[0]
    as_numbers = running.certify(digits.image(5).tolist()).json()
    form = {"procedure": '{"name": "fixed", "n0": 64, "n": 500}', "alpha": "0.001", "model": "digits"}
    as_picture = running.client.post("/v1/certify", files={"image": ("x.png", png(pixels))}, data=form)
    assert as_picture.json() == {**as_numbers, "repeated": True}
    in_colours = np.stack([pixels] * 3, axis=-1)
    again = running.client.post("/v1/certify", files={"image": ("x.png", png(in_colours))}, data=form)
    assert again.json() == as_picture.json()
    tinted = in_colours.copy()
    tinted[0, 0, 0] ^= 8
    refused = running.client.post("/v1/certify", files={"image": ("x.png", png(tinted))}, data=form)
    assert code(refused, 422) == "invalid"  # what colours become in grey is a choice


def test_what_the_page_needs(running, model, digits):
    told = running.client.get("/v1/models").json()["models"][0]
    assert (told["name"], told["input_shape"], told["samples"]) == ("digits", [1, 8, 8], len(digits))
    samples = running.client.get("/v1/models/digits/samples").json()["samples"]
    index = samples[3]["index"]
    assert samples[3]["label"] == int(digits.labels[index])
    picture = running.client.get(f"/v1/models/digits/samples/{index}").content
    assert (np.asarray(Image.open(io.BytesIO(picture))) == np.asarray(digits.images[index])[0]).all()
    strip = running.client.get(f"/v1/models/digits/samples/{index}/noisy?copies=5")
    assert Image.open(io.BytesIO(strip.content)).size == (40, 8)
    own = running.client.post("/v1/noisy", json={"image": digits.image(0).tolist(), "copies": 2})
    assert Image.open(io.BytesIO(own.content)).size == (16, 8)
    page = running.client.get("/")
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    assert "http" not in page.text.replace("<!doctype html>", "")  # nothing from elsewhere
    assert running.client.get("/static/page.css").status_code == 200


def test_paths_and_names_do_not_leave_their_place(running, images):
    paths = ["/v1/certificates/..%2f..%2fsecret.json", "/static/../server.py", "/static/..%2fserver.py"]
    paths += ["/v1/models/..%2f..%2fx/samples", "/static/%2e%2e/server.py", "/v1/certificates/" + "0" * 31]
    for path in paths:
        assert running.client.get(path).status_code in (404, 422), path
    assert code(running.client.get("/v1/certificates/" + "0" * 32), 404) == "not_found"
    assert code(running.certify(images[0], model="../digits"), 404) == "not_found"
    assert code(running.client.get("/v1/models/digits/samples/999999"), 404) == "not_found"
    assert code(running.client.get("/nothing"), 404) == "not_found"
    assert code(running.client.delete("/v1/certify"), 405) == "method_not_allowed"


BAD = {
    "no image": ({}, 422),
    "text": ({"image": "seven"}, 422),
    "ragged": ({"image": [[[0.0] * 8] * 7 + [[0.0] * 7]]}, 422),
    "another shape": ({"image": [[0.0] * 8] * 8}, 422),
    "out of range": ({"image": [[[2.0] * 8] * 8]}, 422),
    "huge": ({"image": [[[1e300] * 8] * 8]}, 422),
    "truth values": ({"image": [[[True] * 8] * 8]}, 422),
    "a truth value": ({"image": [[[0.5] * 7 + [True]] * 8]}, 422),
    "alpha": ({"alpha": 0}, 422),
    "alpha of text": ({"alpha": "x"}, 422),
    "unknown field": ({"aplha": 0.01}, 422),
    "unknown procedure": ({"procedure": {"name": "magic"}}, 422),
    "unknown option": ({"procedure": {"name": "fixed", "m": 3}}, 422),
    "votes": ({"procedure": {"name": "fixed", "n": 10**9}}, 422),
    "votes as text": ({"procedure": {"name": "fixed", "n": "many"}}, 422),
    "votes in a table": ({"procedure": {"name": "group", "radius": 0.1, "n": 10**6}}, 422),
    "radii": ({"procedure": {"name": "sequential", "radii": [i / 100 for i in range(60)]}}, 422),
    "radius out of reach": ({"procedure": {"name": "sequential", "radius": 1e6}}, 422),
    "model of number": ({"model": 3}, 422),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_argument_is_named(running, images, case):
    changed, status = BAD[case]
    body = {"image": images[0], "procedure": FIXED, **changed}
    if case == "no image":
        del body["image"]
    answer = running.client.post("/v1/certify", json=body)
    assert code(answer, status) == "invalid"
    assert "Traceback" not in answer.text
    assert running.votes() == 0


def test_bodies_that_are_none(running):
    def post(content, kind="application/json"):
        return running.client.post("/v1/predict", content=content, headers={"content-type": kind})

    assert code(post(b"{"), 400) == "malformed"
    assert code(post(b'{"image": [NaN]}'), 400) == "malformed"
    assert code(post(b"[]"), 400) == "malformed"
    assert code(post(b"[" * 100_000), 400) == "malformed"
    assert code(post(b"x", "text/plain"), 415) == "unsupported_type"
    assert code(post(b"x", "multipart/form-data"), 415) == "unsupported_type"
    assert post(b"x", "multipart/form-data; boundary=y").status_code in (400, 422)
    assert code(post(b"0" * 2_000_000), 413) == "too_large"


def test_another_origin_and_another_host_are_refused(running, images):
    def ask(**headers):
        return running.client.post("/v1/predict", json={"image": images[0], "n": 64}, headers=headers)

    assert ask(origin=running.url).status_code == 200
    assert ask(origin="http://[").status_code == 403
    foreign = ask(origin="https://elsewhere.example")
    assert code(foreign, 403) == "forbidden"
    assert not [name for name in foreign.headers if name.startswith("access-control")]
    assert code(ask(host="rebound.example"), 403) == "forbidden"
    asked = running.client.options("/v1/predict", headers={"access-control-request-method": "POST"})
    assert not [name for name in asked.headers if name.startswith("access-control")]


def test_keys_open_and_are_exchanged_while_it_runs(model, images, tmp_path):
    file = tmp_path / "keys"
    file.write_text(f"{KEYS[0]}  # of the first client\n\n{KEYS[1]}\n")
    with served({"digits": model}, tmp_path / "store", keys=ApiKeys(file)) as service:

        def ask(key=None, path="/v1/models", header="authorization"):
            value = key if header == "x-api-key" else f"Bearer {key}"
            return service.client.get(path, headers={} if key is None else {header: value}).status_code

        for path in ("/v1/models", "/metrics", f"/v1/certificates/{'0' * 32}", "/v1/unknown"):
            refused = service.client.get(path)
            assert code(refused, 401) == "unauthorized"
            assert refused.headers["www-authenticate"] == "Bearer"
        assert ask("wrong-key-0123456789") == 401
        assert ask(KEYS[0][:-1]) == 401
        assert [ask(key) for key in KEYS] == [200, 200]
        assert ask(KEYS[1], header="x-api-key") == 200
        assert [ask(path=path) for path in ("/healthz", "/readyz", "/", "/openapi.json")] == [200] * 4
        file.write_text(f"{KEYS[1]}\nthird-key-0123456789\n")
        assert [ask(key) for key in (*KEYS, "third-key-0123456789")] == [401, 200, 200]
        file.unlink()  # being replaced, perhaps: those that were read stay
        assert ask(KEYS[1]) == 200


def test_keys_that_are_none_are_refused(tmp_path, monkeypatch):
    short = tmp_path / "short"
    short.write_text("abc\n")
    with pytest.raises(InvalidArgumentError, match="16 is the least"):
        ApiKeys(short)
    empty = tmp_path / "empty"
    empty.write_text("# none\n")
    with pytest.raises(InvalidArgumentError, match="no key in"):
        ApiKeys(empty)
    with pytest.raises(InvalidArgumentError, match="cannot read"):
        ApiKeys(tmp_path / "missing")
    monkeypatch.setenv("SMOOTHCERT_API_KEYS", ", ".join(KEYS))
    found = ApiKeys.found(None)
    assert [found.opens(key) for key in (*KEYS, "x", None)] == [True, True, False, False]


def test_beyond_this_machine_keys_are_required(tmp_path, monkeypatch, model_folder):
    monkeypatch.delenv("SMOOTHCERT_API_KEYS", raising=False)
    with pytest.raises(InvalidArgumentError, match="give keys with --keys"):
        serve([model_folder], Options(tmp_path / "store", host="0.0.0.0"), ready=print)
    assert not (tmp_path / "store").exists()


def test_names_and_memory_of_models_are_checked(model_folder, tmp_path):
    odd = tmp_path / "a name\n"
    odd.mkdir()
    with pytest.raises(InvalidArgumentError, match="other characters"):
        name_of(odd)
    with pytest.raises(InvalidArgumentError, match="two models would be called"):
        load_models([model_folder, model_folder], engine="torch", batch_size=None, memory=100)


def test_one_request_too_many_is_told_to_come_back(model, images, tmp_path, pace):
    with served({"digits": model}, tmp_path / "store", limits=Limits(requests=2)) as service:
        pace.hold(0)
        answers = []
        threads = [
            threading.Thread(target=lambda i=i: answers.append(service.predict(images[i], n=64)))
            for i in range(2)
        ]
        for thread in threads:
            thread.start()
        while service.service._under_way < 2:  # until both are being answered
            pass
        refused = service.predict(images[2], n=64)
        assert code(refused, 429) == "busy"
        assert int(refused.headers["retry-after"]) >= 1
        pace.free()
        for thread in threads:
            thread.join()
        assert [answer.status_code for answer in answers] == [200, 200]
        assert service.predict(images[2], n=64).status_code == 200


def test_a_client_that_goes_away_frees_its_place(model, images, tmp_path, pace):
    with served({"digits": model}, tmp_path / "store", limits=Limits(requests=1)) as service:
        pace.hold(2)
        name = service.stream(images[0], stop_after=2, n=3_000)[0][1]["certificate"]
        service.wait_until_left(name)
        pace.free()
        assert service.client.get(f"/v1/certificates/{name}").json()["status"] == "stopped"
        assert service.predict(images[1], n=64).status_code == 200
        host, port = service.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as half:  # a body that never comes
            half.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nxx")
        assert service.predict(images[2], n=64).status_code == 200


def test_a_second_service_on_the_same_store_is_refused(running, model):
    with (
        pytest.raises(Exception, match="another service is at work"),
        served({"digits": model}, running.folder.folder),
    ):
        pass


def test_nothing_is_answered_while_it_closes(running, images):
    running.service.closing = True
    assert code(running.predict(images[0]), 503) == "closing"
    assert code(running.client.get("/readyz"), 503) == "closing"
    assert running.client.get("/healthz").status_code == 200
