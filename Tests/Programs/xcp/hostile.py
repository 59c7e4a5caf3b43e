# SPDX-License-Identifier: BSD-3-Clause
"""hostile.py PORT PID OFFSET: does to a server of XCP what no client should.

It prints `served` if the server serves the next client.
OFFSET is that of a double in the first image, in hexadecimal.
"""

import os
import random
import socket
import sys
import time

port, pid, offset = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3], 16)
connect_command = b"\2\0\0\0\xff\0"


def connect():
    connection = socket.create_connection(("127.0.0.1", port))
    connection.settimeout(60)
    return connection


def receive(connection, count):
    """All these bytes, or fewer at the end of the connection."""
    received = b""
    while len(received) < count and (part := connection.recv(count - len(received))):
        received += part
    return received


def connected():
    """A connection that the server answers: the one before may not have ended for it yet."""
    while True:
        connection = connect()
        try:
            connection.sendall(connect_command)
            if receive(connection, 12)[4:5] == b"\xff":
                return connection
        except ConnectionError:
            pass
        connection.close()
        time.sleep(0.01)


def command(connection, *parameters):
    connection.sendall(bytes([len(parameters), 0, 0, 0, *parameters]))
    header = receive(connection, 4)
    return receive(connection, header[0] | header[1] << 8)


def resident():
    """The memory of the server in bytes."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


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
    size = choice.randint(0, 29)
    parameters = bytes(choice.choice([0, 1, 4, 255]) for _ in range(size))
    assert command(connection, choice.randint(0xC0, 0xFD), *parameters)[0] in (0xFD, 0xFE, 0xFF)
connection.close()

# Wants many large samples, and never reads them.
connection = connected()
address = offset.to_bytes(4, sys.byteorder)
assert command(connection, 0xD6) == b"\xff"
assert command(connection, 0xD5, 0, *(1).to_bytes(2, sys.byteorder)) == b"\xff"
assert command(connection, 0xD4, 0, 0, 0, 60) == b"\xff"
for table in range(60):
    assert command(connection, 0xD3, 0, 0, 0, table, 255) == b"\xff"
    assert command(connection, 0xE2, 0, 0, 0, table, 0) == b"\xff"
    for entry in range(255):
        assert command(connection, 0xE1, 0xFF, 8, 0, *address) == b"\xff"
assert command(connection, 0xE0, 0, 0, 0, 0, 0, 1, 0) == b"\xff"
assert command(connection, 0xDE, 1, 0, 0) == b"\xff\0"
# The server keeps 4 MB for it, and a second gives it 120.
time.sleep(1)
assert resident() - before < 64 << 20, resident() - before
connection.close()

# Never reads its answers, until the server reads no further command.
connection = connected()
connection.settimeout(2)
try:
    while True:
        connection.sendall(b"\2\0\0\0\xfb\0" * 1000)
except TimeoutError:
    pass
assert resident() - before < 64 << 20, resident() - before
connection.close()

connected().close()
print("served")
