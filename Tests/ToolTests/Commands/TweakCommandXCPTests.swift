// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program in C that runs with the library, and its server for calibration tools.
private final class ServedProgram {
    let home: TemporaryDirectory
    let process: RunningCommand
    let server: RunningCommand
    let port: String
    /// The places of tweaks and monitors as `client.py` takes them, by their names in A2L.
    private let places: [String: String]

    static let source = #"""
        #include <fbtweak.h>
        #include <stdio.h>
        #include <unistd.h>

        static float table[] = {0.25f, 0.5f, 0.75f};
        FBTweakVariable(table, "Motor", "Variables", "Point")
        int part(void);

        int main(void) {
          double last = 0, speed = 0;
          for (;;) {
            FBTweakMonitor("Motor", "State", "Speed", speed += 1);
            FBTweakMonitor("Motor", "State", "Ready", (bool)true);
            double gain = FBTweakValue("Motor", "Control", "Gain", 2.5, 0, 5);
            int mode = FBTweakValue("Motor", "Control", "Mode", 7, FBTweakChoices((3, "slow"), (7, "fast")));
            int fixed = FBTweakValue("Motor", "Control", "Fixed", 1, FBTweakReadOnly);
            if (gain != last)
              printf("gain %g %d %d %d\n", last = gain, mode, fixed, part());
            fflush(stdout);
            usleep(1000);
          }
        }

        """#

    init(_ source: String = ServedProgram.source) throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        try home.write("motor.c", source)
        try home.write(
            "part.c",
            "#include <fbtweak.h>\nint part(void);\nint part(void) { return FBTweakValue(\"Part\", \"A\", \"B\", 300); }\n"
        )
        let common = ["-std=gnu11", "-DDEBUG", "-I" + (try Installation.path("include"))]
        for arguments in [
            ["-shared", "-fPIC", "part.c", "-o", "libpart.so"],
            ["motor.c", "-o", "motor", "libpart.so", "-Wl,-rpath,\(home.path)", "-Wl,--build-id"]
                + (try Installation.linkerFlags),
        ] {
            let gcc = try run(Locations.program("gcc"), common + arguments, home: home, in: home.path)
            try #require(gcc.succeeded, "\(gcc.error)")
        }
        process = try start(home("motor"), home: home, in: home.path)
        let socket = home("runtime/tweaks/\(process.processID).sock")
        #expect(waitUntil { FileManager.default.fileExists(atPath: socket) })
        let server = try start(
            Locations.product("tweak"), ["xcp", "\(process.processID)", "--port", "0"], home: home)
        #expect(waitUntil { server.written.output.hasSuffix("\n") || !server.isRunning })
        self.server = server
        let match = server.written.output.wholeMatch(of: /XCP on TCP at 127\.0\.0\.1:(\d+)\n/)
        port = try String(#require(match, "\(server.written)").1)
        let text = try dump(["--format", "a2l", "--libraries", home("motor")], home: home).output
        try home.write("motor.a2l", text)
        places = Dictionary(
            uniqueKeysWithValues: text.matches(of: /\/begin (?:CHARACTERISTIC|MEASUREMENT) (\S+) (.*)/).map {
                let address = $0.2.firstMatch(of: /(?:VALUE|ECU_ADDRESS) 0x([0-9a-f]+)/)?.1 ?? ""
                let image = $0.2.firstMatch(of: /ECU_ADDRESS_EXTENSION (\d+)/)?.1 ?? "0"
                return (String($0.1), "\(image):\(address)")
            })
    }

    deinit {
        server.kill()
        process.kill()
    }

    func place(_ name: String) throws -> String { try #require(places[name], "\(places)") }

    /// Runs the independent client.
    func clientResult(_ words: [String]) throws -> CommandResult {
        try run(
            "\(Locations.package)/.build/xcp/bin/python3",
            ["\(Locations.package)/Tests/Programs/xcp/client.py", port] + words, home: home, in: home.path)
    }

    /// Runs the independent client, which must succeed.
    ///
    /// - Returns: The lines that it prints.
    func client(_ words: String...) throws -> [String] { try client(words) }

    func client(_ words: [String]) throws -> [String] {
        let result = try clientResult(words)
        #expect(result.succeeded, "\(result.error)")
        return result.output.split(separator: "\n").map(String.init)
    }

    /// A sample that the independent client has got: the time in nanoseconds and the values.
    struct Sample: Decodable {
        let time: Int
        let values: [Double]

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            time = try container.decode(Int.self)
            values = try container.decode([Double].self)
        }
    }

    /// Lets the independent client take samples.
    ///
    /// - Parameters:
    ///   - count: The number of samples of each list, at least.
    ///   - lists: The number of the event, and the names in A2L with their types.
    func samples(_ count: Int, _ lists: [(event: Int, values: [(name: String, type: String)])]) throws
        -> [[Sample]]
    {
        let words = try lists.map { list in
            try "\(list.event),"
                + list.values.map { "\(try place($0.name))=\($0.type)" }.joined(separator: ",")
        }
        let result = try run(
            "\(Locations.package)/.build/xcp/bin/python3",
            ["\(Locations.package)/Tests/Programs/xcp/sample.py", port, "\(count)"] + words, home: home,
            in: home.path)
        #expect(result.succeeded, "\(result.error)")
        return try JSONDecoder().decode([[Sample]].self, from: Data(result.output.utf8))
    }

    func python(_ arguments: [String]) throws -> CommandResult {
        try run(Locations.program("python3"), arguments, home: home)
    }
}

@Suite struct `tweak xcp` {
    @Test func `A client reads what the program has, at the addresses of tweak-dump`() throws {
        let program = try ServedProgram()
        let lines = try program.client(
            "read", program.place("Motor.Control.Gain"), "d", "read", program.place("Motor.Control.Mode"),
            "i",
            "read", program.place("Motor.Variables.Point[0]"), "3f", "read", program.place("Part.A.B"), "i",
            "read", program.place("Motor.State.Ready"), "B", "read", program.place("Motor.State.Speed"), "d")
        #expect(lines.dropLast() == ["2.5", "7", "0.25 0.5 0.75", "300", "1"])
        let speed = try #require(lines.last.flatMap(Double.init))
        #expect(speed > 0)
        let others = try program.client("read", "0:0", "Q", "read", "7:4010", "I")
        #expect(others == ["ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED"])
    }

    @Test func `A client gets the description that tweak-dump writes`() throws {
        let program = try ServedProgram()
        let lines = try program.client("text", "1", "text", "5")
        let id = try #require(dumpedJSON([program.home("motor")]).images[0].buildID)
        #expect(lines == ["motor", id])
        let result = try program.clientResult(["text", "4"])
        let described = try String(contentsOfFile: program.home("motor.a2l"), encoding: .utf8)
        #expect(result.output == described + "\n")
    }

    @Test func `A new value is admitted as by tweak set, and the terminal says why others are not`() throws {
        let program = try ServedProgram()
        let gain = try program.place("Motor.Control.Gain")
        let lines = try program.client(
            "write", gain, "d", "4.5", "read", gain, "d", "write", gain, "d", "99", "read", gain, "d",
            "write", program.place("Motor.Variables.Point[1]"), "f", "8",
            "read", program.place("Motor.Variables.Point[0]"), "3f",
            "write", program.place("Motor.Control.Mode"), "i", "4",
            "write", program.place("Motor.Control.Fixed"), "i", "4",
            "write", program.place("Motor.State.Speed"), "d", "4", "write", gain, "f", "1",
            "write", gain, "d", "nan", "read", gain, "d")
        #expect(
            lines == [
                "done", "4.5", "done", "5.0", "done", "0.25 8.0 0.75", "ERR_OUT_OF_RANGE",
                "ERR_WRITE_PROTECTED", "ERR_WRITE_PROTECTED", "ERR_ACCESS_DENIED", "ERR_OUT_OF_RANGE", "5.0",
            ])
        let error = program.server.written.error
        for text in [
            "warning: Motor/Control/Gain: 99.0 is outside the limits",
            "Motor/Control/Mode: 4 is not among the choices",
            "Motor/Control/Fixed: the tweak is read-only", "Motor/State/Speed: a monitor",
        ] {
            #expect(error.contains("tweak: " + text), "\(error)")
        }
        #expect(waitUntil { program.process.written.output.hasSuffix("gain 5 7 1 300\n") })
        let log = try run(
            Locations.product("tweak"), ["log", "\(program.process.processID)"], home: program.home)
        #expect(log.output.contains("Motor/Control/Gain"))
    }

    @Test func `A thousand values are set one after the other`() throws {
        let program = try ServedProgram()
        let gain = try program.place("Motor.Control.Gain")
        let values = (1...1000).map { Double($0) / 256 }
        let lines = try program.client(
            values.flatMap { ["write", gain, "d", "\($0)", "read", gain, "d"] })
        #expect(lines == values.flatMap { ["done", "\($0)"] })
    }

    @Test func `A client takes samples at several rates`() throws {
        let program = try ServedProgram()
        let lists = try program.samples(
            20,
            [
                (
                    1,
                    [
                        ("Motor.State.Speed", "F64"), ("Motor.State.Ready", "U8"),
                        ("Motor.Variables.Point[0]", "F32"), ("Motor.Variables.Point[1]", "F32"),
                    ]
                ), (2, [("Motor.Control.Gain", "F64"), ("Part.A.B", "I32")]),
            ])
        #expect(lists.count == 2 && lists.allSatisfy { $0.count >= 20 })
        for samples in lists {
            #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.time < $1.time })
        }
        #expect(lists[0].allSatisfy { $0.values.dropFirst() == [1, 0.25, 0.5] })
        let speeds = lists[0].map { $0.values[0] }
        #expect(speeds == speeds.sorted() && speeds[0] < speeds[speeds.count - 1])
        #expect(lists[1].allSatisfy { $0.values == [2.5, 300] })
        // The next client begins with nothing.
        #expect(try program.client("text", "1") == ["motor"])
    }

    @Test func `A thousand monitors are sampled at once`() throws {
        let monitors = (0..<1000).map {
            "    FBTweakMonitor(\"Big\", \"State\", \"M\($0)\", (double)\($0));\n"
        }
        let program = try ServedProgram(
            """
            #include <fbtweak.h>
            #include <unistd.h>
            int part(void);
            int main(void) {
              for (;;) {
            \(monitors.joined())
                usleep(part());
              }
            }

            """)
        let lists = try program.samples(50, [(1, (0..<1000).map { ("Big.State.M\($0)", "F64") })])
        #expect(lists[0].count >= 50)
        #expect(lists[0].allSatisfy { $0.values == (0..<1000).map(Double.init) })
    }

    @Test func `There is one client at a time`() throws {
        let program = try ServedProgram()
        let script = """
            import socket
            first, second = (socket.create_connection(("127.0.0.1", \(program.port))) for _ in range(2))
            first.sendall(b"\\2\\0\\0\\0\\xff\\0")
            print(len(first.recv(12, socket.MSG_WAITALL)), len(second.recv(1)))
            first.sendall(b"\\1\\0\\0\\0\\xfd")
            print(len(first.recv(10, socket.MSG_WAITALL)))
            """
        #expect(try program.python(["-c", script]).output == "12 0\n10\n")
        #expect(try program.client("text", "1") == ["motor"])
    }

    @Test func `Hostile clients do not end it, and take little memory`() throws {
        let program = try ServedProgram()
        let script = "\(Locations.package)/Tests/Programs/xcp/hostile.py"
        let offset = String(try program.place("Motor.State.Speed").dropFirst(2))
        let result = try program.python([script, program.port, "\(program.server.processID)", offset])
        #expect(result.output == "served\n", "\(result.error)")
        #expect(program.server.isRunning && program.process.isRunning)
        #expect(try program.client("text", "1") == ["motor"])
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `Clients of other users are refused`() throws {
        let program = try ServedProgram()
        let script = """
            import os, socket
            os.setgroups([]); os.setgid(65534); os.setuid(65534)
            # Looking up a name would load modules, which the user may not read.
            connection = socket.socket()
            connection.connect(("127.0.0.1", \(program.port)))
            try:
                connection.sendall(b"\\2\\0\\0\\0\\xff\\0")
                print(len(connection.recv(12)))
            except ConnectionError:
                print(0)
            """
        #expect(try program.python(["-c", script]).output == "0\n")
        #expect(waitUntil { program.server.written.error.contains("a client of another user was refused") })
        #expect(try program.client("text", "1") == ["motor"])
    }

    @Test func `It ends with the program, and a second server needs another port`() throws {
        let program = try ServedProgram()
        let other = try run(
            Locations.product("tweak"),
            ["xcp", "\(program.process.processID)", "--port", program.port], home: program.home)
        #expect(other.status == 71 && other.error.contains("cannot listen at 127.0.0.1:\(program.port)"))
        program.process.kill()
        let result = program.server.wait()
        #expect(result.status == 0 && result.error.hasSuffix(": it has ended\n"), "\(result.error)")
        let late = try run(
            Locations.product("tweak"), ["xcp", program.home("motor"), "--port", "0"], home: program.home)
        #expect(late.status == 69)
    }
}
