# SPDX-License-Identifier: BSD-3-Clause
"""Sockets of strangers are not believed, and whatever a program sends is an error with a message."""

import asyncio
import base64
import json
import os
import socket
import struct
import subprocess
import sys
import threading

import pytest

import fbtweak
from fbtweak import _aio_waiting, _command, _program, _protocol, _sockets
from fbtweak._values import read_tweak

DESCRIBED = {"application": "a", "executable": "/bin/a", "pid": 1, "protocol": 1, "tweaks": 1, "version": "1"}
TWEAK = {
    "tweak": "A/B/C", "category": "A", "collection": "B", "name": "C", "type": "double", "default": 1, "value": 1,
    "source": "default",
}  # fmt: skip


@pytest.fixture
def folder(surroundings):
    folder = surroundings / "tweaks"
    folder.mkdir(mode=0o700, exist_ok=True)
    yield folder
    for path in folder.glob("*.sock"):
        path.unlink()


@pytest.fixture
def serve(folder):
    """A program with the process id of the tests that answers requests with what a function returns."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / f"{os.getpid()}.sock"))
    listener.listen()

    def serve(answer):
        def run(client):
            with client, client.makefile("rb") as lines:
                for line in lines:
                    request = json.loads(line)
                    result = DESCRIBED if request["method"] == "describe" else answer(request)
                    if isinstance(result, dict):
                        result = json.dumps({"id": request["id"], "jsonrpc": "2.0", "result": result}).encode() + b"\n"
                    if result is None:
                        return
                    try:
                        client.sendall(result)
                    except OSError:
                        return

        def accept():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=run, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return fbtweak.connect(os.getpid())

    yield serve
    listener.close()


def get(answer):
    """A program that has a tweak, and answers the next request as given."""

    def respond(request):
        if request["method"] == "list":
            return {"tweaks": [TWEAK]}
        return answer(request) if callable(answer) else answer

    return respond


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"no json\n", "its answer is malformed"),
        (b"[" * 200_000 + b"\n", "its answer is malformed"),
        (b"[1]\n", "it is not an object"),
        (b"\xff\xfe\n", "its answer is malformed"),
        (b'{"id": ' + b"9" * 5000 + b"}\n", "its answer is malformed"),
        ({"value": {}}, "type"),
        (b'{"id": null, "error": {"message": "x"}}\n', "no code"),
        (b'{"id": null, "result": 3}\n', "neither a result nor an error"),
    ],
)
def test_malformed_answers(serve, answer, message):
    program = serve(get(answer))
    with pytest.raises(fbtweak.Garbled, match=message):
        program.tweak("A/B/C")


def test_a_value_of_another_type(serve):
    program = serve(get({**TWEAK, "value": "many"}))
    with pytest.raises(fbtweak.Garbled, match="'many' is not a value of type double"):
        program["C"]


def test_an_endless_line_is_bounded(serve, monkeypatch):
    monkeypatch.setattr(_protocol, "_LARGEST_ANSWER", 1 << 20)
    program = serve(get(b"a" * (3 << 20)))
    with pytest.raises(fbtweak.Garbled, match="a message has more than 1048576 bytes"):
        program.tweak("A/B/C")


def test_a_large_request_is_not_sent(serve):
    program = serve(get({}))
    with pytest.raises(fbtweak.Refused, match="a program takes at most 1048576 bytes per request"):
        program.mark("m" * (1 << 20))


def test_the_end_in_the_middle_of_an_answer(serve):
    program = serve(get(lambda _: None))
    with pytest.raises(fbtweak.Ended):
        program.mark("m")


def test_silence(serve, monkeypatch):
    monkeypatch.setattr(_protocol, "_SILENCE", 0.5)
    program = serve(get(b""))
    with pytest.raises(fbtweak.Silent, match="it does not answer; it may be stopped or hung"):
        program.mark("m")


def test_messages_that_never_end(serve, monkeypatch):
    monkeypatch.setattr(_protocol, "_WHOLE", 1.0)
    program = serve(get(b'{"method": "changed", "params": {"changes": []}}\n' * 200_000))
    with pytest.raises(fbtweak.TweaksError):
        program.mark("m")


def test_notifications_instead_of_an_answer_are_bounded(serve, monkeypatch):
    monkeypatch.setattr(_protocol, "_MOST_TOLD", 1 << 16)
    flood = b'{"method": "changed", "params": {"changes": []}}\n' * 10_000
    program = serve(get(lambda request: flood if request["method"] == "subscribe" else {}))
    with pytest.raises(fbtweak.Garbled, match="65536 bytes of notifications instead of an answer"):
        program.changes()


def test_notifications_that_are_read_are_not_counted_again(serve, monkeypatch):
    monkeypatch.setattr(_protocol, "_MOST_TOLD", 1 << 10)
    change = {"tweak": "A/B/C", "oldValue": 1, "newValue": 2, "source": "control", "time": 1}
    told = json.dumps({"method": "changed", "params": {"changes": [change]}}).encode() + b"\n"

    def answer(request):
        result = json.dumps({"id": request["id"], "result": {"subscription": 1}}).encode() + b"\n"
        return told * 3 + result + told * 20

    with serve(get(answer)).changes() as changes:
        assert [next(changes).new_value for _ in range(23)] == [2] * 23


def sampled(request, frames, changes=0):
    """The answers to the requests of a feed, with samples and changes behind them."""
    if request["method"] == "subscribe":
        return {"subscription": 1}
    result = json.dumps({"id": request["id"], "result": {"subscription": 2, "types": ["double"]}}).encode() + b"\n"
    change = {"tweak": "A/B/C", "oldValue": 1, "newValue": 2, "source": "control", "time": 1}
    told = {"method": "changed", "params": {"changes": [change] * 10}}
    data = base64.b64encode(struct.pack("=dd", 1, 2) * frames).decode()
    params = {"subscription": 2, "dropped": 0, "skipped": 0, "missing": [], "frames": data}
    lines = [told] * changes + [{"method": "samples", "params": params}]
    return result + b"".join(json.dumps(each).encode() + b"\n" for each in lines)


def test_changes_beside_samples_are_bounded(serve, monkeypatch):
    monkeypatch.setattr(_program.Sampling, "_MOST_CHANGES", 25)
    program = serve(get(lambda request: sampled(request, 5, changes=4)))
    with pytest.warns(fbtweak.Lost, match="25 changes; 15 more were not kept"):
        samples = program.sample("A/B/C", rate=5, seconds=1)
    assert len(samples.changes) == 25


def test_more_samples_than_were_asked_for(serve):
    program = serve(get(lambda request: sampled(request, 100_000)))
    with pytest.raises(fbtweak.Garbled, match="more samples than it was asked for"):
        with program.sampling("A/B/C", rate=1) as sampling:
            sampling._thread.join()


@pytest.fixture
def command(tmp_path):
    """Writes a command that does what a line of shell says."""

    def command(line):
        path = tmp_path / "tweak"
        path.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\n{line}\n")
        path.chmod(0o755)
        return _command.Command(str(path))

    yield command
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_output_of_the_command_is_bounded(command, monkeypatch):
    monkeypatch.setattr(_command, "_LARGEST_OUTPUT", 1 << 20)
    with pytest.raises(fbtweak.Garbled, match="it prints more than 1048576 bytes"):
        command("exec yes").run("list")


def test_of_many_messages_of_the_command_the_last_are_kept(command, monkeypatch):
    monkeypatch.setattr(_command, "_LARGEST_MESSAGE", 1 << 10)
    with pytest.raises(fbtweak.Refused) as error:
        command("yes many | head -n 100000 >&2; echo the last >&2; exit 65").run("list")
    assert str(error.value).endswith("the last") and len(str(error.value)) < 10_000


def test_a_command_that_does_not_end_is_ended(command, monkeypatch):
    monkeypatch.setattr(_command, "_SECONDS", 0.2)
    with pytest.raises(fbtweak.Silent, match="it has not ended after 0.2 s"):
        command("exec sleep 1000").run("list")


def test_a_line_of_the_command_that_never_ends_is_bounded(command, monkeypatch):
    monkeypatch.setattr(_command, "_LARGEST_LINE", 1 << 20)
    tweak = read_tweak(TWEAK)
    backend = _command.CommandBackend(command("exec cat /dev/zero"), "a", {"pid": os.getpid()})
    feed = backend.feed([tweak], 10, None)
    with pytest.raises(fbtweak.Garbled, match="a line of the samples has more than 1048576 bytes"):
        while feed.read(10, None) is not None:
            pass


def test_a_lease_by_a_command_that_says_nothing(command, monkeypatch):
    monkeypatch.setattr(_command, "_SECONDS", 0.2)
    backend = _command.CommandBackend(command("exec sleep 1000"), "a", {"pid": os.getpid()})
    tweak = read_tweak(TWEAK)
    with pytest.raises(fbtweak.Silent, match="set: it has not answered after 0.2 s"):
        backend.lease({tweak.name: 2}, {tweak.name: tweak}, None, None)


def test_the_reason_why_a_command_leases_nothing(command):
    line = "head -c 200000 /dev/zero | tr '\\0' '\\n' >&2; echo 'tweak: no memory' >&2; exit 69"
    backend = _command.CommandBackend(command(line), "a", {"pid": os.getpid()})
    tweak = read_tweak(TWEAK)
    with pytest.raises(fbtweak.Unavailable, match="no memory"):
        backend.lease({tweak.name: 2}, {tweak.name: tweak}, None, None)


def test_samples_of_a_command_that_says_nothing(command, monkeypatch):
    monkeypatch.setattr(_command, "_SECONDS", 0.2)
    backend = _command.CommandBackend(command("exec sleep 1000"), "a", {"pid": os.getpid()})
    with pytest.raises(fbtweak.Silent, match="there is no sample after 0.2 s"):
        backend.feed([read_tweak(TWEAK)], 10, None)


def test_an_action_by_a_command_that_does_not_end(command):
    backend = _command.CommandBackend(command("exec sleep 1000"), "a", {"pid": os.getpid()})
    with pytest.raises(TimeoutError, match="A/B/C: it has not returned after 0.2 s"):
        backend.run("A/B/C", True, 0.2)


def test_samples_whose_end_never_comes(serve, monkeypatch):
    monkeypatch.setattr(_program.Sampling, "_LONGEST_END", 0.2)
    monkeypatch.setattr(_program.Sampling, "_PATIENCE", 1000)
    # Their times are long past.
    program = serve(get(lambda request: sampled(request, 5)))
    with program.sampling("A/B/C", rate=5) as sampling:
        pass
    assert len(sampling.samples) <= 5


# MARK: In asyncio


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (b"no json\n", fbtweak.Garbled, "its answer is malformed"),
        (b'{"method": "changed", "params": {"changes": 3}}\n', fbtweak.Garbled, "its changes is 3"),
        (b'{"id": null, "error": {"code": 4, "message": "too many"}}\n', fbtweak.TweaksError, "too many"),
        (None, fbtweak.Ended, "closed the connection"),
        (b"", fbtweak.Silent, "it does not answer"),
        (b"a" * (3 << 20), fbtweak.Garbled, "a message has more than 1048576 bytes"),
        (b'{"method": "other"}\n' * 1_000_000, fbtweak.TweaksError, "does not answer|closed"),
    ],
)
def test_malformed_answers_in_asyncio(serve, monkeypatch, answer, error, message):
    monkeypatch.setattr(_protocol, "_LARGEST_ANSWER", 1 << 20)
    monkeypatch.setattr(_protocol, "_SILENCE", 2.0)
    monkeypatch.setattr(_protocol, "_WHOLE", 4.0)
    program = serve(get(lambda request: answer if request["method"] == "subscribe" else TWEAK))

    async def main():
        with pytest.raises(error, match=message):
            await program.aio.wait_for("A/B/C", lambda _: False, seconds=0)

    asyncio.run(main())


def test_changes_of_too_many_tweaks_that_are_not_read(monkeypatch):
    monkeypatch.setattr(_aio_waiting, "_MERGED", 10)
    monkeypatch.setattr(_aio_waiting, "_MOST_TWEAKS", 100)

    async def main():
        buffer = _aio_waiting.Buffer(None, {})
        buffer.add([fbtweak.Change(f"A/B/{number}", 1, 2, "control", "", 1.0) for number in range(1000)])
        with pytest.raises(fbtweak.Garbled, match="changes of more than 100 tweaks have not been read"):
            await buffer.next(None)

    asyncio.run(main())


def test_control_characters_do_not_reach_a_terminal(serve):
    text = json.dumps({"id": None, "error": {"code": 2, "message": "\x1b[31mred\x07\u202e"}}).encode() + b"\n"
    program = serve(get(text))
    with pytest.raises(fbtweak.Refused) as error:
        program.mark("m")
    assert str(error.value) == r"\x1b[31mred\x07\u202e"


@pytest.fixture
def stranger(folder):
    """Another process that listens at the path of this one."""
    path = folder / f"{os.getpid()}.sock"
    code = "import socket,sys,time; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield path
        process.kill()


def test_a_socket_of_another_process(stranger):
    with pytest.raises(ConnectionRefusedError):
        _sockets.connect(os.getpid())


def test_a_link_to_a_socket(stranger, folder):
    path = folder / f"{os.getpid()}.sock"
    path.rename(folder / "real")
    path.symlink_to(folder / "real")
    with pytest.raises(OSError):
        _sockets.connect(os.getpid())
    (folder / "real").unlink()


def test_a_file_in_its_place(folder):
    (folder / f"{os.getpid()}.sock").write_text("")
    with pytest.raises(ConnectionRefusedError):
        _sockets.connect(os.getpid())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_socket_of_another_user(serve, folder):
    path = folder / f"{os.getpid()}.sock"
    os.chown(path, 12345, 12345)
    with pytest.raises(ConnectionRefusedError):
        _sockets.connect(os.getpid())


def test_the_folders_of_sockets(tmp_path):
    folders = _sockets._folders
    assert folders(1000, {}) == ["/run/user/1000/tweaks", "/tmp/tweaks-1000"]
    assert folders(1000, {"XDG_RUNTIME_DIR": "relative"})[0] == "/run/user/1000/tweaks"
    services = {"RUNTIME_DIRECTORY": "/run/a:/run/b"}
    assert folders(1000, services) == ["/run/user/1000/tweaks", "/run/a/tweaks", "/tmp/tweaks-1000"]
    own = {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert folders(os.geteuid(), own) == [f"{tmp_path}/tweaks"]
    # That of another user does not count.
    assert folders(os.geteuid() + 1, own)[0] == f"/run/user/{os.geteuid() + 1}/tweaks"
