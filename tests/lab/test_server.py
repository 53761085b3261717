"""The server answers its own page and nobody else, and no client blocks another."""

import json
import signal
import socket
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from lab.serving import running
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from maxmargin.lab.examples import example
from maxmargin.lab.rooms import NAMES


def get(address, **headers):
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def origin_of(address):
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def dial(address, path="socket", **options):
    options = {"origin": origin_of(address), "max_size": None, "close_timeout": 1, **options}
    return connect(address.replace("http", "ws", 1) + path, **options)


def ask(connection, room, request, number=1):
    connection.send(json.dumps({"id": number, "room": room, "request": request}))
    return json.loads(connection.recv(timeout=120))


def test_pages_come_with_a_policy_that_allows_no_other_host(lab):
    status, text, headers = get(lab)
    assert status == 200
    assert "static/boot.js" in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    names = [room["name"] for room in json.loads(get(lab + "rooms.json")[1])]
    assert names == list(NAMES)
    assert get(lab + "static/main.js")[0] == 200


@pytest.mark.parametrize("path", ["", "static/main.js", "rooms.json"])
def test_a_wrong_token_finds_nothing(lab, path):
    host = origin_of(lab)
    assert get(f"{host}/{path}")[0] == 404
    assert get(f"{host}/{'A' * 22}/{path}")[0] == 404


def test_files_beside_the_static_ones_are_not_served(lab):
    assert get(lab + "static/../server.py")[0] == 404
    assert get(lab + "static/%2e%2e/server.py")[0] == 404


def test_other_hosts_and_origins_are_refused(lab):
    assert get(lab, Host="evil.example")[0] == 403
    assert get(lab, Origin="https://evil.example")[0] == 403
    for origin in ("https://evil.example", None, "null"):
        with pytest.raises(InvalidStatus) as refused:
            dial(lab, origin=origin)
        assert refused.value.response.status_code == 403


def test_socket_with_a_wrong_token_is_refused(lab):
    with pytest.raises(InvalidStatus):
        dial(origin_of(lab) + "/" + "A" * 22 + "/")


def test_rooms_answer_over_the_socket(lab):
    with dial(lab) as connection:
        found = ask(connection, "smo", {**example("xor"), "action": "solve"}, number=7)
        assert found["id"] == 7
        assert found["answer"]["machines"][0]["status"] == "converged"
        assert "room must be one of" in ask(connection, "nothing", {})["error"]
        assert "C must be" in ask(connection, "smo", {**example("xor"), "C": "x"})["error"]


@pytest.mark.parametrize(
    "message",
    ["no json", "[]", "{}", '{"id": "x", "room": "smo", "request": {}}', "[" * 100_000],
)
def test_forged_messages_end_the_connection(lab, message):
    with dial(lab) as connection:
        connection.send(message)
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=20)
        assert closed.value.rcvd.code == 1008


def test_oversize_messages_end_the_connection(lab):
    with dial(lab) as connection:
        # The server may close while the message is still on its way.
        with suppress(ConnectionClosed):
            connection.send("x" * (9 << 20))
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=20)
        assert closed.value.rcvd is None or closed.value.rcvd.code == 1009


def test_too_many_messages_end_the_connection(lab):
    text = json.dumps({"id": 1, "room": "nothing", "request": {}})
    answers = []
    with dial(lab) as connection:

        def read():
            with suppress(ConnectionClosed):
                while True:
                    answers.append(connection.recv(timeout=20))

        # Older versions of the client may wait for ever if nobody reads while they send.
        reader = threading.Thread(target=read)
        reader.start()
        with suppress(ConnectionClosed):
            for _ in range(2000):
                connection.send(text)
        reader.join()
        assert len(answers) < 1000
        # What was still on its way may cut the farewell short.
        assert connection.protocol.close_code in (1006, 1008)


def test_a_long_run_of_one_client_does_not_hold_up_another(lab):
    points = example("chess", 300)["points"]
    slow = {"points": points, "C": 1e4, "gamma": 5.0}
    racers = [{"selection": "random"}] * 2
    with dial(lab) as first, dial(lab) as second:
        # Two processes are ready before the long run begins.
        short = json.dumps({"id": 0, "room": "smo", "request": example("xor")})
        first.send(short)
        second.send(short)
        assert "answer" in json.loads(first.recv(timeout=120))
        assert "answer" in json.loads(second.recv(timeout=120))
        first.send(json.dumps({"id": 1, "room": "race", "request": {**slow, "racers": racers}}))
        for _ in range(3):
            assert "answer" in ask(second, "smo", {**example("xor"), "action": "solve"})
        with pytest.raises(TimeoutError):
            first.recv(timeout=0)
        assert "answer" in json.loads(first.recv(timeout=120))


def test_it_listens_on_this_machine_only(lab):
    port = urlsplit(lab).port
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        own = "127.0.0.2"
    with socket.socket() as other:
        other.settimeout(2)
        assert other.connect_ex((own, port)) != 0


def test_ctrl_c_ends_it_in_order():
    with running() as (process, address):
        assert get(address)[0] == 200
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
        assert process.returncode == 0
        assert error == ""
