// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The host in `Tests/Programs/plug-in-host`, which has no library, and plug-ins that bring the installed one.
private struct PlugInHost {
    let home: TemporaryDirectory
    private let plugIns: [String]

    /// - Parameter compiler: Compiles the plug-ins, as `pkg-config --libs tweaks` says.
    init(_ compiler: Compiler = .gcc) throws {
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        let sources = Locations.package + "/Tests/Programs/plug-in-host"
        let warnings = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]
        try Compiler.gcc.compile(
            ["\(sources)/host.c"], to: home("host"), warnings + ["-pthread"], home: home)
        plugIns = ["first.so", "second.so"].map(home.callAsFunction)
        for plugIn in plugIns {
            try compiler.compile(
                ["\(sources)/plug-in.c"], to: plugIn,
                warnings + [
                    "-DDEBUG=1", "-shared", "-fPIC",
                ] + (try Installation.linkerFlags), home: home)
        }
    }

    /// - Parameter options: Those of the host.
    func start(_ options: [String] = [], rounds: Int) throws -> RunningCommand {
        try TestSupport.start(home("host"), options + ["\(rounds)"] + plugIns, home: home)
    }

    /// - Parameter options: Those of the host.
    func run(_ options: String..., rounds: Int) throws -> CommandResult {
        try start(options, rounds: rounds).wait()
    }

    func socket(of process: RunningCommand) -> String { home("runtime/tweaks/\(process.processID).sock") }
}

private func expectDone(_ result: CommandResult, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(result.succeeded && result.output == "done\n", "\(result)", sourceLocation: sourceLocation)
    #expect(result.error.isEmpty, sourceLocation: sourceLocation)
}

/// Something that a client does with the tweaks of the plug-ins, which are there or not.
private struct Request {
    let method: String
    var parameters: [String: Any]

    /// One of each kind. Both tweaks of the pair always get the same value.
    static func kinds(_ number: Int) -> [Request] {
        let (level, text) = ("Plug-in/Values/Level", "Plug-in/Values/Text")
        let pair = ["Plug-in": ["Pair": ["First": number, "Second": number]]]
        return [
            Request(method: "setMany", parameters: ["values": pair]),
            Request(method: "setMany", parameters: ["values": pair, "for": 0.01]),
            Request(method: "setMany", parameters: ["values": pair, "ramp": 0.01]),
            Request(method: "set", parameters: ["tweak": level, "value": number]),
            Request(method: "set", parameters: ["tweak": level, "value": number, "for": 0.02]),
            Request(method: "set", parameters: ["tweak": level, "value": number, "until": "closed"]),
            Request(method: "set", parameters: ["tweak": level, "value": number, "ramp": 0.05]),
            Request(method: "set", parameters: ["tweak": text, "value": "text \(number % 50)"]),
            Request(method: "set", parameters: ["tweak": "Plug-in/Values/Bound", "value": number % 100]),
            Request(method: "run", parameters: ["tweak": "Plug-in/Values/Reset"]),
            Request(method: "run", parameters: ["tweak": "Plug-in/Values/Made"]),
            Request(method: "reset", parameters: ["tweak": level]),
            Request(method: "list", parameters: [:]),
            Request(method: "history", parameters: ["since": 0, "limit": 10]),
        ]
    }
}

@Suite(.enabled(if: sanitizer == nil)) struct `Plug-ins that bring the library` {
    @Test(arguments: Compiler.allCases, [0, 1000, 100_000, 350_000])
    func `are closed before or after the library's thread has begun to work`(
        compiler: Compiler, microseconds: Int
    ) throws {
        expectDone(try PlugInHost(compiler).run("--idle", "\(microseconds)", rounds: 6))
    }

    /// The host puts memory of its own where a plug-in was, and sees who writes there.
    @Test func `are opened and closed while clients use their tweaks`() throws {
        let host = try PlugInHost()
        let process = try host.start(["--idle", isLong ? "500" : "5000"], rounds: isLong ? 10_000 : 300)
        let answered = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 3) { client in
            var number = client
            // The host has no socket before, and none when it ends.
            while process.isRunning {
                let probe = ControlClient.connect(host.socket(of: process))
                close(probe)
                guard probe >= 0, let control = try? ControlClient(host.socket(of: process)) else { continue }
                _ = try? control.request("subscribe")
                _ = try? control.request(
                    "sample", ["tweaks": ["Plug-in/Values/Level", "Plug-in/Values/Round"], "rate": 500])
                // A client that goes ends its leases.
                for request in (0..<20).flatMap({ _ in Request.kinds(Int.random(in: 0..<1_000_000)) })
                    .shuffled()
                {
                    guard (try? control.request(request.method, request.parameters)) != nil else { break }
                    number += 1
                    answered.withLock { $0 += 1 }
                }
            }
        }
        expectDone(process.wait())
        #expect(answered.withLock { $0 } > 100)
    }

    /// Each has a C library of its own. The Tweaks library does nothing there, and goes with the plug-in.
    @Test func `are opened and closed in namespaces of their own, with their defaults`() throws {
        expectDone(try PlugInHost().run("--namespace", rounds: isLong ? 10_000 : 50))
    }

    @Test func `have the values that are kept each time they are opened`() throws {
        let host = try PlugInHost()
        try host.home.write(
            "config/tweaks/host/overrides.json", #"{"Plug-in": {"Pair": {"First": 3, "Second": 4}}}"#)
        let result = try host.run(rounds: 3)
        #expect(result.status == 1 && result.error.hasSuffix("torn when it was opened\n"), "\(result)")
    }
}
