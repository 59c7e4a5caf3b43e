# SPDX-License-Identifier: BSD-3-Clause
"""hostile.py PORT PID: does to a server of XCP what no client should, and prints `served` if it serves the next."""

import random
import socket
import sys
import time

port, pid = int(sys.argv[1]), int(sys.argv[2])
connect_command = b"\2\0\0\0\xff\0"


def connect():
    connection = socket.create_connection(("127.0.0.1", port))
    connection.settimeout(60)
    return connection


def connected():
    """A connection that the server answers: the one before may not have ended for it yet."""
    while True:
        connection = connect()
        try:
            connection.sendall(connect_command)
            if connection.recv(12, socket.MSG_WAITALL)[4:5] == b"\xff":
                return connection
        except ConnectionError:
            pass
        connection.close()
        time.sleep(0.01)


def resident():
    """The memory of the server in bytes."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


first = connected()
before = resident()
for connection in [connect() for _ in range(50)]:
    assert connection.recv(1) == b""
    connection.close()
first.close()

for start in [b"\5", b"\5\0\0\0\xf4", b"\0\0\0\0", b"\xff\xff\0\0" + bytes(9999), b"\0\1\0\0" + bytes(300)]:
    connection = connected()
    connection.sendall(start)
    connection.shutdown(socket.SHUT_WR)
    try:
        while connection.recv(9999):
            pass
    except ConnectionError:
        pass
    connection.close()

choice = random.Random(1)
connection = connected()
for number in range(5000):
    size = choice.randint(1, 30)
    parameters = bytes(choice.choice([0, 1, 4, 255]) for _ in range(size - 1))
    connection.sendall(bytes([size, 0, 0, 0, choice.randint(0xC0, 0xFD)]) + parameters)
    header = connection.recv(4, socket.MSG_WAITALL)
    assert connection.recv(header[0] | header[1] << 8, socket.MSG_WAITALL)[0] in (0xFD, 0xFE, 0xFF)
connection.close()

# Never reads its answers, until the server reads no further command.
connection = connected()
connection.settimeout(2)
try:
    while True:
        connection.sendall(b"\2\0\0\0\xfb\0" * 1000)
except TimeoutError:
    pass
assert resident() - before < 32 << 20, resident() - before
connection.close()

connected().close()
print("served")
