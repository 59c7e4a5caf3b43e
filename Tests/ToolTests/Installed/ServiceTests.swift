// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A server in C, in namespaces in which there is no session of a user: nothing in /run and /tmp but what a test puts there,
/// and no other processes.
private struct Machine {
    private let home: TemporaryDirectory

    /// Prints its number and the value whenever it changes; with an argument in two forked processes too.
    private static let server = """
        #include <fbtweak.h>
        #include <stdio.h>
        #include <unistd.h>
        int main(int count, char **arguments) {
          (void)arguments;
          setvbuf(stdout, NULL, _IOLBF, 0);
          int process = 0;
          for (int child = 1; count > 1 && child <= 2 && process == 0; child++)
            if (fork() == 0)
              process = child;
          for (int last = -1;; usleep(10000)) {
            int speed = FBTweakValue("Server", "Work", "Speed", 1);
            if (speed != last)
              printf("%d: %d\\n", process, last = speed);
          }
        }
        """

    /// Python, with an extension that has a tweak, and a child that it forks.
    private static let python = """
        import ctypes, multiprocessing, os, sys, time
        extension = ctypes.CDLL(os.path.abspath("extension.so"))
        def work(number):
            last = None
            while True:
                if (value := extension.speed()) != last:
                    print(f"{number}: {value}", flush=True)
                    last = value
                time.sleep(0.01)
        if __name__ == "__main__":
            multiprocessing.get_context("fork").Process(target=work, args=[1], daemon=True).start()
            work(0)
        """

    /// Prints the value whenever it changes, as root and then as another user, which it becomes at the beginning or when there
    /// is a file; or again and again for a moment.
    private static let daemon = """
        #define _GNU_SOURCE
        #include <fbtweak.h>
        #include <grp.h>
        #include <stdio.h>
        #include <string.h>
        #include <unistd.h>
        static int become_user(void) {
          return setgroups(0, NULL) || setgid(65534) || setuid(65534);
        }
        int main(int count, char **arguments) {
          (void)count;
          setvbuf(stdout, NULL, _IOLBF, 0);
          int is_root = strcmp(arguments[1], "at-once") != 0;
          if (!is_root && become_user())
            return 1;
          for (int last = -1;; usleep(10000)) {
            int speed = FBTweakValue("Server", "Work", "Speed", 1);
            if (speed != last)
              printf("%d: %d\\n", getuid() != 0, last = speed);
            if (is_root && strcmp(arguments[1], "later") == 0 && access("/run/drop", F_OK) == 0) {
              if (become_user())
                return 1;
              is_root = 0;
              puts("dropped");
            }
            if (strcmp(arguments[1], "for-moments") == 0 && (seteuid(65534) || seteuid(0)))
              return 1;
          }
        }
        """

    private static let prelude = """
        mount -t tmpfs none /run
        mkdir /run/old
        mount --rbind /tmp /run/old
        mount -t tmpfs -o mode=1777 none /tmp
        case "$PWD" in /tmp/*) mkdir -p "$PWD"; mount --bind "/run/old${PWD#/tmp}" "$PWD"; cd "$PWD" ;; esac
        unset XDG_RUNTIME_DIR RUNTIME_DIRECTORY
        # One user or another, with nothing in the environment but what follows.
        as() { user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups env -i HOME=/tmp/home-"$user" "$@"; }
        start() { "$@" > /tmp/output 2>&1 & }
        # Waits for a line of the server.
        await() { for _ in $(seq 500); do grep -qx "$1" /tmp/output && return; sleep 0.02; done; cat /tmp/output; exit 9; }
        # Waits for a process of a program that takes questions.
        reached() {
          for _ in $(seq 500); do "$@" ps | grep -q "$name" && return; sleep 0.02; done; exit 8
        }
        # A daemon that becomes another user at the beginning, or when it has its socket as root.
        daemon() {
          when=$1; shift
          start env -i "$@" ./daemon "$when"
          if [ "$when" = later ]; then
            for _ in $(seq 500); do
              set -- /tmp/tweaks-0/*.sock /run/tuned/tweaks/*.sock
              if [ -S "$1" ] || [ -S "$2" ]; then break; fi
              sleep 0.02
            done
            touch /run/drop
            await dropped
          fi
          until daemon=$(pgrep -x daemon); do sleep 0.02; done
        }
        name=server
        mkdir -m 777 /tmp/home-65534 /tmp/home-1000 /tmp/home-0

        """

    init() throws {
        home = try TemporaryDirectory()
        try home.write("server.c", Self.server)
        try home.write(
            "extension.c",
            "#include <fbtweak.h>\nint speed(void) { return FBTweakValue(\"Server\", \"Work\", \"Speed\", 1); }\n"
        )
        try home.write("host.py", Self.python)
        try home.write("daemon.c", Self.daemon)
        for (installed, name) in [("bin/tweak", "tweak"), ("lib/libtweaks.so.0", "libtweaks.so.0")] {
            try FileManager.default.copyItem(
                atPath: URL(fileURLWithPath: Installation.path(installed)).resolvingSymlinksInPath().path,
                toPath: home(name))
        }
        let pkgConfig = try TestSupport.run(
            Locations.program("pkg-config"), ["--cflags", "--libs", "tweaks"], home: home,
            environment: ["PKG_CONFIG_PATH": Installation.path("lib/pkgconfig")])
        let flags = pkgConfig.output.split(whereSeparator: \.isWhitespace).map(String.init)
        let include = flags.filter { $0.hasPrefix("-I") }
        let builds = [
            ("server", "server", flags), ("extension", "extension.so", flags + ["-shared", "-fPIC"]),
            ("daemon", "daemon", flags), ("daemon", "bare", include + ["-static"]),
        ]
        for (source, name, options) in builds {
            let result = try TestSupport.run(
                Locations.program("gcc"),
                ["-O2", "-DFB_TWEAK_ENABLED=1", home(source + ".c")] + options
                    + ["-Wl,-rpath,$ORIGIN", "-o", home(name)], home: home)
            try #require(result.succeeded, "\(result.error)")
        }
    }

    func path(_ name: String) -> String { home(name) }

    /// Runs a script of sh(1).
    func run(_ script: String) throws -> CommandResult {
        let namespaces = geteuid() == 0 ? ["-mpf"] : ["-Urmpf"]
        return try TestSupport.run(
            Locations.program("timeout"),
            ["-k", "5", "60", "unshare"] + namespaces
                + ["--mount-proc", "--kill-child", "sh", "-euc", Self.prelude + script], home: home,
            in: home.path)
    }

    static let isPossible: Bool = {
        guard let machine = try? Machine() else { return false }
        return (try? machine.run("true").succeeded) ?? false
    }()
}

@Suite(.enabled(if: Machine.isPossible, "needs namespaces"))
struct `Programs without a session` {
    private let machine = try? Machine()
    private static let isRoot = geteuid() == 0

    private func run(_ script: String) throws -> CommandResult {
        let result = try #require(machine).run(script)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        return result
    }

    @Test func `Their sockets are in a private directory in /tmp`() throws {
        let result = try run(
            """
            start env -i HOME=/tmp/home-0 ./server
            reached ./tweak
            stat -c %a /tmp/tweaks-[0-9]*
            ./tweak set server Speed 2
            await "0: 2"
            """)
        #expect(result.output == "700\nServer/Work/Speed: 1 → 2\n")
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `A directory of another user is not used`() throws {
        let result = try run(
            """
            mkdir /tmp/tweaks-65534
            chown 1000 /tmp/tweaks-65534
            start as 65534 ./server
            await "0: 1"
            sleep 1
            ls /tmp/tweaks-65534
            ./tweak ps
            """)
        #expect(result.output == "no program with tweaks is running\n")
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `A link in place of a socket does not lead to another process`() throws {
        let result = try run(
            """
            start as 65534 ./server
            reached ./tweak
            server=$(pgrep -x server)
            as 1000 ./server > /tmp/other 2>&1 &
            for _ in $(seq 500); do [ -e /tmp/tweaks-1000/*.sock ] && break; sleep 0.02; done
            other=$(echo /tmp/tweaks-1000/*.sock)
            rm /tmp/tweaks-65534/$server.sock
            ln $other /tmp/tweaks-65534/$server.sock
            ./tweak set $server Speed 3 || echo $?
            tail -n 1 /tmp/other
            """)
        #expect(result.output == "69\n0: 1\n")
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `A systemd service is tuned only by its user and by root`() throws {
        let result = try run(
            """
            mkdir /run/tuned
            chown 65534 /run/tuned
            start as 65534 RUNTIME_DIRECTORY=/run/tuned:/run/more ./server
            reached ./tweak
            server=$(pgrep -x server)
            ls /run/tuned/tweaks | sed "s/$server/PID/"
            ./tweak set server Speed 2
            await "0: 2"
            as 65534 ./tweak set server Speed 3
            await "0: 3"
            as 1000 ./tweak set $server Speed 4 2>&1 | sed "s/$server/PID/" || true
            as 1000 ./tweak ps
            ./tweak ps | sed "s/$server/PID/"
            # What is set soon after something else is written a moment later.
            overrides=/tmp/home-65534/.config/tweaks/server/overrides.json
            for _ in $(seq 500); do grep -q 3 $overrides && break; sleep 0.02; done
            cat $overrides | tr -d ' \\n'
            """)
        let user = "nobody"
        #expect(
            result.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") } == [
                "PID.sock", "Server/Work/Speed: 1 → 2", "Server/Work/Speed: 2 → 3",
                "tweak: PID: the process belongs to \(user); only \(user) and root can connect to it",
                "no program with tweaks is running", "PID USER APPLICATION TWEAKS OVERRIDES EXECUTABLE",
                "PID \(user) server 1 1 \(try #require(machine).path("server"))",
                #"{"Server":{"Work":{"Speed":3}}}"#,
            ])
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `Root does not change its own files on behalf of another user's program`() throws {
        let result = try run(
            """
            mkdir -p /tmp/home-0/.config/tweaks/victim
            chmod 700 /tmp/home-0
            victim=/tmp/home-0/.config/tweaks/victim/overrides.json
            echo '{"A": {"B": {"D": 7}}}' > $victim
            cat > /tmp/liar.py <<'END'
            import json, os, socket, sys
            os.mkdir("/tmp/tweaks-65534", 0o700)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(f"/tmp/tweaks-65534/{os.getpid()}.sock")
            listener.listen()
            names = {"tweak": "A/B/C", "category": "A", "collection": "B", "name": "C"}
            tweak = names | {"type": "int32", "default": 1, "value": 2, "source": "default"}
            answers = {
                "describe": {"application": "victim", "executable": "/bin/true", "pid": os.getpid(), "protocol": 1,
                             "version": "1", "tweaks": 1, "overrides": sys.argv[1]},
                "list": {"tweaks": [tweak]}, "get": tweak, "reset": {"reset": 1},
            }
            while True:
                client, _ = listener.accept()
                for line in client.makefile():
                    request = json.loads(line)
                    answer = {"jsonrpc": "2.0", "id": request["id"], "result": answers[request["method"]]}
                    client.sendall((json.dumps(answer) + "\\n").encode())
            END
            start as 65534 python3 /tmp/liar.py $victim
            name=victim
            reached ./tweak
            ./tweak reset $(pgrep -x python3) --undeclared > /dev/null
            cat $victim
            """)
        #expect(result.output == "{\"A\": {\"B\": {\"D\": 7}}}\n")
    }

    @Test(.enabled(if: isRoot, "needs root"), arguments: ["at-once", "later"], [false, true])
    func `A daemon that becomes another user is tuned only by that user and by root`(
        when: String, hasRuntimeDirectory: Bool
    ) throws {
        // As systemd makes it for a service that begins as root.
        let variable = hasRuntimeDirectory ? "RUNTIME_DIRECTORY=/run/tuned" : ""
        let result = try run(
            """
            mkdir -m 755 /run/tuned
            daemon \(when) HOME=/tmp/home-65534 \(variable)
            name=daemon
            reached ./tweak
            reached as 65534 ./tweak
            ./tweak set $daemon Speed 2
            await "1: 2"
            as 65534 ./tweak set $daemon Speed 3
            await "1: 3"
            ./tweak set daemon Speed 4
            await "1: 4"
            as 65534 ./tweak set daemon Speed 5
            await "1: 5"
            as 1000 ./tweak set $daemon Speed 6 2>/dev/null || echo $?
            as 1000 ./tweak ps
            ./tweak ps | awk '{ print $2, $3 }'
            # What was left as root is gone when somebody looks.
            ls -d /tmp/tweaks-0/*.sock 2>/dev/null || true
            for _ in $(seq 500); do grep -q 5 /tmp/home-65534/.config/tweaks/daemon/overrides.json && break; sleep 0.02; done
            """)
        #expect(
            result.output.split(separator: "\n") == [
                "Server/Work/Speed: 1 → 2", "Server/Work/Speed: 2 → 3", "Server/Work/Speed: 3 → 4",
                "Server/Work/Speed: 4 → 5", "77", "no program with tweaks is running", "USER APPLICATION",
                "nobody daemon",
            ])
    }

    @Test(.enabled(if: isRoot, "needs root"), arguments: ["at-once", "later"])
    func `A program that can no longer write root's overrides keeps its values, and reports it once`(
        when: String
    )
        throws
    {
        let result = try run(
            """
            mkdir -p /run/home/.config/tweaks/daemon
            chmod 700 /run/home
            echo '{"Server": {"Work": {"Speed": 7}}}' > /run/home/.config/tweaks/daemon/overrides.json
            daemon \(when) HOME=/run/home
            name=daemon
            reached as 65534 ./tweak
            ./tweak get $daemon Speed
            as 65534 ./tweak set $daemon Speed 3 2>&1 || echo $?
            await "1: 3"
            ./tweak explain $daemon Speed > /dev/null
            grep -c "now runs as the user 65534, who cannot write /run/home/.config" /tmp/output
            tr -d ' \n' < /run/home/.config/tweaks/daemon/overrides.json
            """)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "7")
        #expect(
            lines.contains { $0.contains("the program has the value, but will not keep it") }, "\(lines)")
        #expect(lines.suffix(3) == ["74", "1", #"{"Server":{"Work":{"Speed":7}}}"#])
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `A daemon that temporarily becomes another user is root's`() throws {
        let result = try run(
            """
            daemon for-moments HOME=/tmp/home-0
            name=daemon
            reached ./tweak
            for speed in $(seq 2 30); do ./tweak set $daemon Speed $speed > /dev/null 2>&1 || true; done
            ls /tmp/tweaks-65534 2>/dev/null || true
            as 65534 ./tweak ps
            grep '^0: ' /tmp/output | tail -n 1
            stat -c %u /tmp/tweaks-[0-9]*
            """)
        #expect(result.output == "no program with tweaks is running\n0: 30\n0\n")
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `Root changes a process of another user in its memory`() throws {
        let result = try run(
            """
            start ./bare at-once
            await "1: 1"
            ./tweak set $(pgrep -x bare) Speed 2 2>/dev/null
            await "1: 2"
            ./tweak set bare Speed 3 2>/dev/null
            await "1: 3"
            as 65534 ./tweak set $(pgrep -x bare) Speed 4 2>&1 | grep -o "it is not dumpable"
            pkill -x bare
            start as 65534 ./bare never
            await "1: 1"
            ./tweak set $(pgrep -x bare) Speed 5 2>/dev/null
            await "1: 5"
            ./tweak ps --all | awk '{ print $2, $3, $6 }'
            """)
        #expect(
            result.output.split(separator: "\n") == [
                "Server/Work/Speed: 1 → 2", "Server/Work/Speed: 2 → 3", "it is not dumpable",
                "Server/Work/Speed: 1 → 5", "USER APPLICATION BY", "nobody bare memory",
            ])
    }

    @Test func `Root saves no overrides for another user's process without a socket`()
        throws
    {
        guard Self.isRoot else { return }
        let result = try run(
            """
            start as 65534 TWEAKS_CONTROL=0 ./server
            await "0: 1"
            server=$(pgrep -x server)
            ./tweak set $server Speed 2 2>&1 | sed "s/$server/PID/"
            """)
        #expect(
            result.output
                == "tweak: PID: the process belongs to nobody, and has no listening socket\n")
    }

    @Test func `A program in a container is tuned from the host`() throws {
        let inside =
            "mount -t tmpfs -o mode=1777 none /tmp; mkdir /tmp/home; exec env -i HOME=/tmp/home ./server"
        let result = try run(
            """
            start unshare -Urmpf --kill-child --mount-proc sh -c 'cp -r . /run/copy; cd /run/copy; \(inside)'
            reached ./tweak
            ./tweak set $(pgrep -x server) Speed 2
            await "0: 2"
            ls -d /tmp/tweaks-[0-9]* 2>/dev/null || echo "nothing outside"
            """)
        #expect(result.output == "Server/Work/Speed: 1 → 2\nnothing outside\n")
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `A container is tuned only by its user and by root`() throws {
        let inside = """
            mount -t tmpfs none /mnt; cp -r . /mnt/copy; cd /mnt/copy; mount -t tmpfs -o mode=1777 none /tmp; \
            mkdir /tmp/home; exec env -i HOME=/tmp/home ./server
            """
        let result = try run(
            """
            start as 65534 unshare -Urmpf --kill-child --mount-proc sh -c '\(inside)'
            reached ./tweak
            server=$(pgrep -x server)
            as 65534 ./tweak set $server Speed 2
            await "0: 2"
            ./tweak set $server Speed 3
            await "0: 3"
            as 1000 ./tweak set $server Speed 4 2>/dev/null || echo $?
            as 1000 ./tweak ps
            """)
        #expect(
            result.output
                == "Server/Work/Speed: 1 → 2\nServer/Work/Speed: 2 → 3\n77\nno program with tweaks is running\n"
        )
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `A forking server is tuned only by its user and by root`() throws {
        let result = try run(
            """
            start as 65534 ./server forks
            for process in 0 1 2; do await "$process: 1"; done
            reached ./tweak
            parent=$(pgrep -o -x server)
            as 65534 ./tweak set server Speed 2
            for process in 0 1 2; do await "$process: 2"; done
            ./tweak set $parent Speed 3
            for process in 0 1 2; do await "$process: 3"; done
            as 1000 ./tweak set $parent Speed 4 2>/dev/null || echo $?
            """)
        #expect(result.output == "Server/Work/Speed: 1 → 2\nServer/Work/Speed: 2 → 3\n77\n")
    }

    @Test func `A server and its forked processes are one program`() throws {
        let result = try run(
            """
            start env -i HOME=/tmp/home-0 ./server forks
            for _ in $(seq 500); do [ "$(./tweak ps --format json | grep -c '"pid"')" = 3 ] && break; sleep 0.02; done
            ./tweak ps | awk '{ sub(/[^ ]+ +[^ ]+  /, ""); sub(/ *1  *0 .*/, ""); print }'
            parent=$(pgrep -o -x server)
            ./tweak ps --format json | grep -c "\\"parent\\" : $parent"
            ./tweak set server Speed 2
            for process in 0 1 2; do await "$process: 2"; done
            ./tweak set server --all-processes Speed 3 | grep -c "→ 3"
            # One that ends at once leaves no socket for the next command.
            newest=$(pgrep -n -x server)
            kill -9 $newest
            # Its first thread may end before the others.
            for _ in $(seq 500); do [ "$(grep -cE "^(State:.Z|Threads:.1$)" /proc/$newest/status)" = 2 ] && break; sleep 0.02; done
            ./tweak get server Speed
            ls /tmp/tweaks-[0-9]* | wc -l
            """)
        #expect(
            result.output == """
                APPLICATION  TWEAKS  OVERRIDES  EXECUTABLE
                server
                  server
                  server
                2
                Server/Work/Speed: 1 → 2
                3
                3
                2

                """)
    }

    @Test(.enabled(if: isRoot, "needs root"))
    func `Python with a tuned extension, and its forked processes`() throws {
        let result = try run(
            """
            name=python3
            start as 65534 python3 host.py
            await "1: 1"
            reached ./tweak
            python=$(pgrep -o -x python3)
            as 65534 ./tweak set $python Speed 2
            for process in 0 1; do await "$process: 2"; done
            ./tweak set $python Speed 3
            for process in 0 1; do await "$process: 3"; done
            as 1000 ./tweak set $python Speed 4 2>/dev/null || echo $?
            """)
        #expect(result.output == "Server/Work/Speed: 1 → 2\nServer/Work/Speed: 2 → 3\n77\n")
    }
}
