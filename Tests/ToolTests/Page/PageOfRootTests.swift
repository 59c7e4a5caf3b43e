// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The page of root, on a machine with a possibly hostile user.
@Suite(.enabled(if: geteuid() == 0, "needs root"))
struct `The page of root` {
    /// Starts programs of root and of a user, 20 unresponsive processes of the user, and a page. Sends requests to the page
    /// while watching the IDs of its threads. Prints the observations as JSON.
    private static let machine = #"""
        import http.client, json, os, re, socket, subprocess, sys, threading, time
        page_path, program, home = sys.argv[1:4]
        options = sys.argv[4:]
        USER = 4242
        for user in (0, USER):
            for folder in (f"/run/user/{user}", f"{home}/{user}"):
                os.makedirs(folder, exist_ok=True)
                os.chmod(folder, 0o700)
                os.chown(folder, user, user)

        def become_user():
            os.setgroups([]); os.setgid(USER); os.setuid(USER)

        def begin(user, *arguments, output=subprocess.DEVNULL):
            return subprocess.Popen(
                arguments, env={"HOME": f"{home}/{user}", "PATH": os.environ["PATH"]}, cwd="/", stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.DEVNULL, start_new_session=True,
                preexec_fn=become_user if user else None)

        def wait(condition):
            end = time.monotonic() + 60
            while time.monotonic() < end:
                if found := condition():
                    return found
                time.sleep(0.01)
            sys.exit("it has not come")

        def socket_of(user, pid):
            return f"/run/user/{user}/tweaks/{pid}.sock"

        def be_silent(number, own):
            become_user()
            path = socket_of(USER, os.getpid())
            if number == 0:
                os.symlink(socket_of(0, own), path)
                time.sleep(1000)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            listener.listen(0)
            if number % 2:
                kept = []
                while True:
                    kept.append(listener.accept())
            try:
                for _ in range(10):
                    client = socket.socket(socket.AF_UNIX)
                    client.setblocking(False)
                    client.connect(path)
                    socket.fromfd(client.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)
            except BlockingIOError:
                pass
            time.sleep(1000)

        own = begin(0, program, "serve")
        theirs = begin(USER, program, "serve")
        wait(lambda: os.path.exists(socket_of(0, own.pid)) and os.path.exists(socket_of(USER, theirs.pid)))
        silent = []
        for number in range(20):
            if (pid := os.fork()) == 0:
                be_silent(number, own.pid)
            silent.append(pid)
        wait(lambda: all(os.path.lexists(socket_of(USER, pid)) for pid in silent))

        page = begin(0, page_path, *options, output=subprocess.PIPE)
        ids = set()
        def watch():
            while page.poll() is None:
                for thread in os.listdir(f"/proc/{page.pid}/task"):
                    try:
                        text = open(f"/proc/{page.pid}/task/{thread}/status").read()
                    except OSError:
                        continue
                    ids.update(re.findall(r"^(?:Uid|Gid):.*$", text, re.M))
        address = page.stdout.readline().decode().strip()
        threading.Thread(target=watch, daemon=True).start()
        port = int(re.search(r":(\d+)/", address)[1])

        session = None
        statuses = []
        def api(path, /, **body):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            headers = {"Content-Type": "application/json"}
            if session:
                headers["Authorization"] = "Bearer " + session
            connection.request("POST", "/api/" + path, json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        session = api("session", token=re.search("token=([^&]*)", address)[1])[1]["session"]

        def programs():
            status, answer = api("programs")
            statuses.append(status)
            return {program.get("pid"): program for program in answer["programs"]}
        wait(lambda: own.pid in programs())
        # One that comes later is there when all were looked for again.
        later = begin(0, program, "serve")
        wait(lambda: later.pid in programs())
        if options:
            wait(lambda: theirs.pid in programs())
        found = programs()
        for _ in range(100):
            statuses.append(api("tweaks", program=found[own.pid]["id"])[0])
        result = {
            "failures": len([status for status in statuses if status != 200]),
            "others": sorted({program["user"] for program in found.values() if "user" in program}),
            "isTheirsThere": theirs.pid in found, "silent": len([pid for pid in silent if pid in found]),
            "named": api("open", name=str(theirs.pid)),
        }
        if options:
            id = found[theirs.pid]["id"]
            result["set"] = api("set", program=id, values=[{"tweak": "Setter/Values/Count", "value": 6}])
            result["plan"] = api("restart/plan", program=id)
            result["bake"] = api("bake/plan", program=id)
            result["restart"] = api("restart", program=id, plan="1")[0]
            result["ownPlan"] = api("restart/plan", program=found[own.pid]["id"])[0]
            theirs.kill()
            theirs.wait()
            wait(lambda: not any("user" in program and program["state"] == "running" for program in programs().values()))
            result["after"] = api("tweaks", program=id)[0]
        result["lives"] = own.poll() is None and (bool(options) or theirs.poll() is None)
        result["ids"] = sorted(ids)
        print(json.dumps(result))
        """#

    private func machine(_ options: String...) throws -> [String: Any] {
        let program = try SetterProgram()
        let home = program.home
        chmod(home.path, 0o711)
        try home.write("machine.py", Self.machine)
        let script = """
            mount -t tmpfs none /run
            exec python3 "$0" "$@"
            """
        let result = try run(
            Locations.program("timeout"),
            [
                "-k", "5", "110", "unshare", "-mpf", "--mount-proc", "--kill-child", "sh", "-euc", script,
                home("machine.py"), ServedPage.path, program.copy(), home.path,
            ] + options, home: home, in: home.path)
        try #require(result.succeeded, "\(result.status) \(result.output)\(result.error)")
        return try result.json
    }

    private static let ids = ["Gid:\t0\t0\t0\t0", "Uid:\t0\t0\t0\t0"]

    @Test func `shows only root's programs, and keeps root's IDs whatever sockets other users have`() throws {
        let seen = try machine()
        #expect(seen["ids"] as? [String] == Self.ids)
        #expect(seen["failures"] as? Int == 0)
        #expect(seen["isTheirsThere"] as? Bool == false)
        #expect(seen["others"] as? [String] == [])
        #expect(seen["silent"] as? Int == 0)
        #expect(seen["lives"] as? Bool == true)
        let named = try #require(seen["named"] as? [Any])
        #expect(named.first as? Int == 409)
        #expect("\(named)".contains("a program of 4242, which --all-users shows"))
    }

    @Test func `shows programs of other users on request, and never restarts them or reads their sources`()
        throws
    {
        let seen = try machine("--all-users")
        #expect(seen["ids"] as? [String] == Self.ids)
        #expect(seen["failures"] as? Int == 0)
        #expect(seen["isTheirsThere"] as? Bool == true)
        #expect(seen["others"] as? [String] == ["4242"])
        #expect((seen["named"] as? [Any])?.first as? Int == 200)
        #expect((seen["set"] as? [Any])?.first as? Int == 200)
        let plan = try #require(seen["plan"] as? [Any])
        #expect(plan.first as? Int == 409)
        #expect("\(plan)".contains("a program of 4242, which this page does not start"))
        #expect(seen["restart"] as? Int == 409)
        let bake = try #require(seen["bake"] as? [Any])
        #expect(bake.first as? Int == 409)
        #expect("\(bake)".contains("a program of 4242, whose sources this page does not read"))
        #expect(seen["ownPlan"] as? Int == 200)
        // Ended programs leave nothing behind.
        #expect(seen["after"] as? Int == 404)
        #expect(seen["lives"] as? Bool == true)
    }
}
