# SPDX-License-Identifier: BSD-3-Clause
"""Ports for servers that are told theirs before they start."""

import random
import socket


def free_port():
    """A port of this machine at which nothing listens.

    The kernel gives it to nobody before it is used: it is outside the range from which connections and sockets bound to port 0 get theirs.
    """
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        first, last = map(int, file.read().split())
    fixed = [*range(10_000, first), *range(last + 1, 1 << 16)]
    while True:
        port = random.choice(fixed)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            continue
