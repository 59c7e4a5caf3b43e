# SPDX-License-Identifier: BSD-3-Clause
"""Finds and opens the control socket of a process.

A path is only a hint, because other users can create files in some of the folders. The socket's owner is checked on the
file that is opened, and nothing is sent before the kernel has confirmed that the process itself listens.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
from typing import Dict, List, Mapping, Optional

# The kernel's struct ucred: process, user, group.
_CREDENTIALS = struct.Struct("=iII")
_MOST_BYTES = 1 << 20


def connect(pid: int) -> socket.socket:
    """Connects to the process, without waiting.

    :raises ConnectionRefusedError: The process does not listen.
    :raises BlockingIOError: It accepts no connection at the moment.
    """
    user = user_of(pid)
    if user is None:
        raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    problem: OSError = ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    for path in _paths(pid, user):
        try:
            return _connect(path, pid, user)
        except (ConnectionRefusedError, FileNotFoundError):
            continue
        except OSError as error:
            # A busy socket is the right one.
            if not isinstance(problem, BlockingIOError):
                problem = error
    raise problem


def user_of(pid: int) -> Optional[int]:
    """The user that a process runs as; ``None`` if there is no such process."""
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


def start_of(pid: int) -> Optional[bytes]:
    """The time at which a process was started, to tell it from a later one with its id; ``None`` if there is none."""
    # The command's name is in parentheses, and may contain anything. Source: proc_pid_stat(5).
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return fields[19] if len(fields) > 19 else None


def forks_of(pid: int) -> List[int]:
    """The processes of the same executable that a process has forked, directly or not."""
    executable = _executable(pid)
    if executable is None:
        return []
    parents: Dict[int, int] = {}
    for name in os.listdir("/proc"):
        fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split() if name.isdigit() else []
        if len(fields) > 1 and fields[1].isdigit():
            parents[int(name)] = int(fields[1])
    found: List[int] = []
    for each in parents:
        ancestor = parents.get(each)
        # Ids may be used again while they are read.
        for _ in parents:
            if ancestor is None or ancestor == pid:
                break
            ancestor = parents.get(ancestor)
        if ancestor == pid and _executable(each) == executable:
            found.append(each)
    return found


def _executable(pid: int) -> Optional[str]:
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def send_as(client: socket.socket, data: bytes, pid: int) -> int:
    """Sends bytes with the credentials of the process's user, whom a container knows, unlike root."""
    status = os.stat(f"/proc/{pid}")
    credentials = _CREDENTIALS.pack(os.getpid(), status.st_uid, status.st_gid)
    return client.sendmsg(
        [data], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, credentials)], socket.MSG_NOSIGNAL
    )


def _connect(path: str, pid: int, user: int) -> socket.socket:
    file = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(file)
        if not stat.S_ISSOCK(status.st_mode) or status.st_uid not in (user, 0):
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        client = socket.socket(socket.AF_UNIX)
        try:
            client.setblocking(False)
            # The checked file, whatever is at its path now.
            client.connect(f"/proc/self/fd/{file}")
            packed = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            listener, listeners_user, _ = _CREDENTIALS.unpack(packed)
            if listener != pid or listeners_user not in (user, 0):
                raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        except BaseException:
            client.close()
            raise
        return client
    finally:
        os.close(file)


def _paths(pid: int, user: int) -> List[str]:
    """The possible paths of the socket: by the environment of the process, then by that of this process."""
    own = _folders(os.geteuid(), os.environ)
    paths = []
    # If XDG_RUNTIME_DIR leads outside /run/user, only that folder counts.
    if len(own) > 1:
        paths = [path for path in _paths_of_process(pid, user) if stat.S_ISSOCK(_mode(path))]
    for folder in own:
        if os.path.exists(os.path.dirname(folder)):
            path = f"{folder}/{pid}.sock"
            return paths if path in paths else [*paths, path]
    return paths


def _mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def _paths_of_process(pid: int, user: int) -> List[str]:
    process = f"/proc/{pid}"
    # Where the process sees the file system of a container.
    root = f"{process}/root" if os.access(f"{process}/root/", os.F_OK) else ""
    environment = _environment(process)
    inside = _user_inside(process, user)
    # Where a process looks that changed its user: variables of the former user do not count.
    session = environment.get("XDG_RUNTIME_DIR", "")
    changed = {} if session.startswith("/run/user/") else {"XDG_RUNTIME_DIR": session}
    folders = _folders(inside, changed, root) + _folders(inside, environment, root)
    pid_inside = _pid_inside(process, pid)
    return [f"{root}{folder}/{pid_inside}.sock" for folder in dict.fromkeys(folders)]


def _folders(user: int, environment: Mapping[str, str], root: str = "") -> List[str]:
    """The folders in which a process may have its socket; it uses the first whose parent exists."""
    session = environment.get("XDG_RUNTIME_DIR", "")
    if not session.startswith("/"):
        session = f"/run/user/{user}"
    if not session.startswith("/run/user/"):
        # `su` and daemons keep the variable when they change the user.
        try:
            is_others = os.stat(root + session).st_uid != user
        except OSError as error:
            is_others = error.errno == errno.EACCES
        if not is_others:
            return [f"{session}/tweaks"]
        session = f"/run/user/{user}"
    folders = [f"{session}/tweaks"]
    # A service may have several.
    service = environment.get("RUNTIME_DIRECTORY", "").split(":")[0]
    if service.startswith("/"):
        folders.append(f"{service}/tweaks")
    return [*folders, f"/tmp/tweaks-{user}"]


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return b""


def _environment(process: str) -> Dict[str, str]:
    variables: Dict[str, str] = {}
    for each in _read(f"{process}/environ").split(b"\0"):
        name, separator, value = each.partition(b"=")
        if separator:
            variables.setdefault(os.fsdecode(name), os.fsdecode(value))
    return variables


def _numbers(line: bytes) -> List[int]:
    return [int(word) for word in line.split() if word.isdigit()]


def _pid_inside(process: str, pid: int) -> int:
    """The process id in its own namespace."""
    for line in _read(f"{process}/status").split(b"\n"):
        if line.startswith(b"NSpid:"):
            return (_numbers(line) or [pid])[-1]
    return pid


def _user_inside(process: str, user: int) -> int:
    """The user in its own namespace."""
    for line in _read(f"{process}/uid_map").split(b"\n"):
        numbers = _numbers(line)
        if len(numbers) == 3 and numbers[1] <= user < numbers[1] + numbers[2]:
            return numbers[0] + user - numbers[1]
    return user
