// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `A program that sends nonsense to the tweak command` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    /// The process of the tests, which is the program here.
    private var pid: String { "\(getpid())" }

    /// Runs commands that ask in different ways.
    private func expect(
        _ status: Int32, _ message: String, _ location: SourceLocation = #_sourceLocation
    ) throws {
        for arguments in [["get", pid, "A/B/C"], ["list", pid], ["watch", pid], ["preset", "list", pid]] {
            let result = try program.command(arguments)
            #expect(result.status == status, "\(arguments): \(result.error)", sourceLocation: location)
            #expect(result.output.isEmpty, sourceLocation: location)
            #expect(result.errorLines.count == 1, sourceLocation: location)
            #expect(result.error.contains(message), "\(result.error)", sourceLocation: location)
            #expect(!result.error.utf8.contains { $0 < 0x20 && $0 != 0x0A }, sourceLocation: location)
        }
        let ps = try program.command("ps")
        #expect(ps.status == 0, sourceLocation: location)
        #expect(ps.error.contains("tweak: warning: \(pid): "), "\(ps.error)", sourceLocation: location)
        #expect(ps.lines.last?.contains(pid) == true, sourceLocation: location)
    }

    @Test(arguments: [
        "hello", "", "[]", "{}", "null", #"{"jsonrpc":"2.0"}"#, #"{"id":1}"#, #"{"id":1,"result":7}"#,
        #"{"id":1,"result":{}}"#, #"{"jsonrpc":"2.0","id":1,"result":{"tweaks":[7]}}"#,
        #"{"id":1,"result":{"tweaks":[7]}}"#, #"{"id":{},"result":{}}"#,
        #"{"id":1,"result":{"tweaks":[{"tweak":"A/B/C","type":"nothing"}]}}"#, "\u{1b}[31m\u{0}",
        String(repeating: "[", count: 5000), #"{"method":"changed","params":{"subscription":"x"}}"#,
    ])
    func `76 is for a malformed answer`(line: String) throws {
        let endpoint = try FakeEndpoint(program) { _ in .line(line) }
        defer { endpoint.stop() }
        try expect(76, "answer is malformed: ")
    }

    @Test func `69 is for a connection that ends`() throws {
        let endpoint = try FakeEndpoint(program) { _ in .end }
        defer { endpoint.stop() }
        try expect(69, "before it answered")
    }

    @Test func `75 is for silence`() throws {
        let endpoint = try FakeEndpoint(program) { _ in .silence }
        defer { endpoint.stop() }
        let result = try program.command("get", pid, "A/B/C")
        #expect(result.status == 75)
        #expect(result.error.contains("it does not answer"))
    }

    @Test func `A line without an end is given up`() throws {
        let endpoint = try FakeEndpoint(program) { _ in
            .bytes([UInt8](repeating: UInt8(ascii: " "), count: isLong ? 300 << 20 : 1 << 20))
        }
        defer { endpoint.stop() }
        let result = try program.command("get", pid, "A/B/C")
        #expect(result.status == (isLong ? 76 : 75))
        #expect(result.error.contains(isLong ? "more than 268435456 bytes" : "it does not answer"))
    }

    /// What a program may say without being asked.
    private static let change =
        #"{"jsonrpc":"2.0","method":"changed","params":{"subscription":1,"changes":[]}}"# + "\n"

    @Test(
        arguments: [
            (String(repeating: change, count: 10_000), 0), (change, 50_000), (" ", 0), ("{", 50_000),
        ] as [(String, UInt32)])
    func `What only talks does not keep a command for ever`(part: String, interval: UInt32) throws {
        let endpoint = try FakeEndpoint(program) { _ in
            .endless(Array(part.utf8), everyMicroseconds: interval)
        }
        defer { endpoint.stop() }
        // Completions wait for a second, and other commands for half a minute.
        let completions = [
            "---completion", "get", "--", "positional@1", "3", "0", "tweak", "get", pid, "",
        ]
        for arguments in isLong ? [completions, ["get", pid, "A/B/C"], ["list", pid]] : [completions] {
            let command = try start(Locations.product("tweak"), arguments, home: program.home)
            #expect(waitUntil { !command.isRunning })
            command.kill()
            let result = command.wait()
            #expect(result.output.isEmpty)
            if arguments != completions {
                #expect(result.status == 75)
                #expect(result.error.contains("it does not answer"), "\(result.error)")
            }
        }
    }

    @Test(arguments: [
        (1, 65), (2, 65), (3, 65), (4, 75), (5, 74), (-32601, 69), (-32602, 76), (-32603, 76), (77, 76),
    ])
    func `An error has its exit status, and its message is escaped`(code: Int, status: Int) throws {
        let endpoint = try FakeEndpoint(program) { request in
            .line(
                #"{"jsonrpc":"2.0","id":null,"error":{"code":\#(code),"message":"no\u001b[2J\nway"}}"#
            )
        }
        defer { endpoint.stop() }
        let result = try program.command("list", pid)
        #expect(Int(result.status) == status)
        #expect(result.error == "tweak: no\\u{1b}[2J\\u{a}way\n")
    }

    private static func description(name: String) -> String {
        #"{"application":"\#(name)","executable":"/\#(name)/x","pid":1,"protocol":1,"version":"1","tweaks":1}"#
    }

    private static let hostileTweak = #"""
        {"tweak":"A/B/C","category":"A\u001b[2J","collection":"B\n","name":"C\u0007","type":"string",
        "default":"d\u0000","value":"v\u001b]0;x\u0007","source":"s\u001b","description":"\u202e\u009b\udb40\udc01evil"}
        """#.replacing("\n", with: "")

    @Test func `Control characters in names, values and descriptions do not reach the terminal`() throws {
        let endpoint = try FakeEndpoint(
            program,
            results: [
                "list": #"{"tweaks":[\#(Self.hostileTweak)]}"#, "get": Self.hostileTweak,
                "explain":
                    #"{"tweak":"A/B/C","value":"\u001b","source":"\u0007","opinions":[{"source":"\u001b[1m","error":"\u001b"}]}"#,
                "describe": Self.description(name: #"\u001b"#),
            ])
        defer { endpoint.stop() }
        for arguments in [
            ["list", pid, "--format", "json"], ["get", pid, "A/B/C", "--format", "json"], ["export", pid],
            ["list", pid], ["get", pid, "A/B/C"], ["explain", pid, "A/B/C"], ["ps"], ["get", pid, "X"],
            ["run", pid, "A/B/C"], ["set", pid, "A/B/C", "x"], ["preset", "list", pid],
        ] {
            let result = try program.command(arguments)
            let text = (result.output + result.error).unicodeScalars
            #expect(
                !text.contains {
                    $0.value < 0x20 && $0 != "\n" || ["\u{202e}", "\u{9b}", "\u{e0001}"].contains($0)
                }, "\(arguments)")
        }
    }

    @Test(arguments: [-1, 1, 9_999_999_999])
    func `A refusal of what was not in the request is no answer`(index: Int) throws {
        let endpoint = try FakeEndpoint(
            program,
            results: [
                "list": #"{"tweaks":[\#(Self.hostileTweak)]}"#, "get": Self.hostileTweak,
                "describe": Self.description(name: "x"),
                "change":
                    #"{"changes":[],"refused":[{"index":\#(index),"kind":"unknownTweak","message":"no"}]}"#,
            ])
        defer { endpoint.stop() }
        let values = try program.home.write("values.json", #"{"A": {"B": {"C": "x"}}}"#)
        for arguments in [["import", pid, values], ["set", pid, "A/B/C", "x"], ["reset", pid, "A/B/C"]] {
            let result = try program.command(arguments)
            #expect(result.status == 76 && result.error.contains("not in the request"), "\(result)")
        }
    }

    @Test(arguments: ["../../evil", "..", "", "/etc"])
    func `The name of a program does not lead its presets elsewhere`(name: String) throws {
        let endpoint = try FakeEndpoint(
            program,
            results: [
                "list": #"{"tweaks":[]}"#,
                "describe": Self.description(name: name),
            ])
        defer { endpoint.stop() }
        #expect(try program.command("preset", "save", pid, "x").status == 76)
        #expect(try FileManager.default.contentsOfDirectory(atPath: program.home.path) == ["runtime"])
    }

    @Test func `A change with any time is shown`() throws {
        let endpoint = try FakeEndpoint(program) { request in
            if request.contains("\"subscribe\"") {
                let change =
                    #"{"tweak":"A/B/C","oldValue":[1],"newValue":null,"source":"\u001b","time":1e300}"#
                return .line(
                    #"{"jsonrpc":"2.0","id":3,"result":{"subscription":1}}"# + "\n"
                        + #"{"jsonrpc":"2.0","method":"changed","params":{"subscription":1,"changes":[\#(change)]}}"#
                        + "\nbad")
            }
            if request.contains("\"list\"") {
                return .line(#"{"jsonrpc":"2.0","id":2,"result":{"tweaks":[]}}"#)
            }
            return .line(#"{"jsonrpc":"2.0","id":1,"result":\#(Self.description(name: "x"))}"#)
        }
        defer { endpoint.stop() }
        let result = try program.command("watch", pid)
        #expect(result.status == 76)
        #expect(result.output.hasSuffix("  A/B/C: an array → nothing (\\u{1b})\n"))
    }

    @Test func `77 is for a socket that the user may not use`() throws {
        let endpoint = try FakeEndpoint(program) { _ in .end }
        defer { endpoint.stop() }
        chmod(program.socketPath(of: getpid()), 0)
        // To root nothing is forbidden.
        let other = getuid() == 0 ? ["/usr/bin/setpriv", "--reuid", "65534", "--clear-groups"] : []
        let arguments = other + [Locations.product("tweak"), "get", pid, "A/B/C"]
        let result = try run("/usr/bin/env", arguments, home: program.home)
        #expect(result.status == 77)
        // Where root made the runtime directory the other user does not even look.
        let reason = other.isEmpty ? "cannot connect to it: Permission denied" : "the process belongs to root"
        #expect(result.error.contains(reason))
    }
}
