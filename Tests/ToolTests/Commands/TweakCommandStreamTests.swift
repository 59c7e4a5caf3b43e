// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A UDP socket on loopback, and what has come.
private final class DatagramReceiver: Sendable {
    let port: UInt16
    private let descriptor: Int32
    private let received = Locked<[String]>([])

    init(isIPv6: Bool = false) throws {
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        self.descriptor = descriptor
        if isIPv6 {
            var address = sockaddr_in6()
            (address.sin6_family, address.sin6_addr) = (sa_family_t(AF_INET6), in6addr_loopback)
            port = try Self.bind(descriptor, &address) { UInt16(bigEndian: $0.sin6_port) }
        } else {
            port = try Self.bind(descriptor)
        }
        // The end wakes the thread.
        Thread.detachNewThread { [received] in
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = recv(descriptor, &bytes, bytes.count, 0), count > 0 {
                let text = String(decoding: bytes.prefix(count), as: UTF8.self)
                received.withLock { $0.append(text) }
            }
            close(descriptor)
        }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Calls a function with a port at which nothing listens: its socket, connected to itself, takes no datagrams of
    /// others, and nobody else gets the port.
    static func withClosedPort(_ body: (UInt16) throws -> Void) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        let port = try bind(descriptor)
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeBytes(of: &address) { bytes in
            bytes.assumingMemoryBound(to: sockaddr.self).baseAddress.map { connect(descriptor, $0, size) }
        }
        try #require(isConnected == 0)
        try body(port)
    }

    private static func bind(_ descriptor: Int32) throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return try bind(descriptor, &address) { UInt16(bigEndian: $0.sin_port) }
    }

    private static func bind<Address>(
        _ descriptor: Int32, _ address: inout Address, _ port: (Address) -> UInt16
    ) throws -> UInt16 {
        var size = socklen_t(MemoryLayout<Address>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            guard let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return false }
            return Glibc.bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
        }
        try #require(isBound)
        return port(address)
    }

    var all: [String] { received.withLock { $0 } }
    var lines: [String] { all.flatMap { $0.split(separator: "\n").map(String.init) } }
}

/// A line of Teleplot's format, read as its documentation says: `name:milliseconds:value§unit|flags`.
private struct TeleplotLine: Hashable {
    let name: String
    let milliseconds, value: Double
    let unit: String

    init?(_ line: String) {
        guard !line.hasPrefix(">"), let nameEnd = line.firstIndex(of: ":") else { return nil }
        name = String(line[..<nameEnd])
        var rest = line[line.index(after: nameEnd)...]
        if let flags = rest.lastIndex(of: "|") { rest = rest[..<flags] }
        let parts = rest.split(separator: "§", omittingEmptySubsequences: false)
        let numbers = parts[0].split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count <= 2, numbers.count == 2, let time = numbers[0], let value = numbers[1] else {
            return nil
        }
        (milliseconds, self.value, unit) = (time, value, parts.count == 2 ? String(parts[1]) : "")
    }
}

@Suite struct `Streams of tweak watch` {
    /// What PlotJuggler makes of JSON: name, time and value.
    private struct Point: Hashable {
        let name: String
        let time, value: Double
    }

    private func viewer(home: TemporaryDirectory) throws -> RunningCommand {
        let result = try run(
            Locations.program("g++"),
            [
                "-std=c++17", "-Wall", "-Wextra", "-Werror",
                "\(Locations.package)/Tests/Programs/viewers/plotjuggler.cpp", "-o", home("plotjuggler"),
            ], home: home)
        try #require(result.succeeded, "\(result.error)")
        let viewer = try start(home("plotjuggler"), home: home)
        #expect(waitUntil { viewer.written.output.contains("\n") })
        return viewer
    }

    private func points(_ viewer: RunningCommand) -> [Point] {
        viewer.written.output.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: "\t")
            guard fields.count == 3, let time = Double(fields[1]), let value = Double(fields[2]) else {
                return nil
            }
            return Point(name: String(fields[0]), time: time, value: value)
        }
    }

    private func end(_ command: RunningCommand) {
        if command.isRunning { command.kill() }
        _ = command.wait()
    }

    @Test func `PlotJuggler's rules make curves of monitors and tweaks, and a step of a change`() throws {
        let program = try ViewedProgram()
        let viewer = try viewer(home: program.home)
        defer { end(viewer) }
        let port = try #require(viewer.written.output.split(separator: "\n").first)
        let watch = try program.watch(["--rate", "200", "--to", "udp://127.0.0.1:\(port)"])
        defer { end(watch) }
        func values(_ name: String) -> [Double] { points(viewer).filter { $0.name == name }.map(\.value) }
        #expect(waitUntil { values("/Motor/State/Speed").contains(18.75) && points(viewer).count > 50 })
        #expect(try program.tweak("set", ["Gain: a,b|c;d", "2"]).succeeded)
        #expect(try program.tweak("set", ["Text", "bye"]).succeeded)
        #expect(waitUntil { values("/changes/count").contains(2) })
        #expect(waitUntil { values("/Motor/State/Speed").contains(25) })
        let all = points(viewer)
        #expect(
            Set(all.map(\.name)) == [
                "/Motor/PID/Gain: a,b|c;d", "/Motor/PID/Level", "/Motor/PID/Steps", "/Motor/State/Phase",
                "/Motor/State/Speed", "/Motor/State/Stray", "/%63hanges/count/Turn", "/%74imestamp/a%2Fb/On",
                "/changes/count", "/timestamp",
            ])
        let gains = all.filter { $0.name == "/Motor/PID/Gain: a,b|c;d" }
        let step = try #require(gains.firstIndex { $0.value == 2 })
        // The old value at the same time makes a step of it, where the mark is.
        #expect(gains[step - 1] == Point(name: gains[step].name, time: gains[step].time, value: 1.5))
        #expect(all.contains(Point(name: "/changes/count", time: gains[step].time, value: 1)))
        for name in ["/Motor/PID/Gain: a,b|c;d", "/Motor/State/Speed", "/changes/count"] {
            let times = all.filter { $0.name == name }.map(\.time)
            #expect(times == times.sorted() && times.allSatisfy { $0 > 1_600_000_000 })
        }
        // Every value has come, or the viewer would have ended.
        #expect(viewer.isRunning)
    }

    @Test func `Tweaks that do not change are sent again, in datagrams for one frame`() throws {
        let program = try ViewedProgram(many: 300)
        let receiver = try DatagramReceiver()
        let watch = try program.watch(["Speed", "--to", "udp://localhost:\(receiver.port)"])
        defer { end(watch) }
        func count(_ slot: Int) -> Int { receiver.all.count { $0.contains("\"Slot \(slot)\":\(slot)") } }
        #expect(waitUntil { count(299) > 1 && count(0) > 1 })
        #expect((0..<300).allSatisfy { count($0) > 0 })
        #expect(receiver.all.allSatisfy { $0.utf8.count <= 1432 })
        #expect(receiver.all.allSatisfy { $0.hasPrefix("{\"timestamp\":") })
    }

    @Test func `Teleplot's rules have names, times, units and a log of changes`() throws {
        let program = try ViewedProgram()
        let receiver = try DatagramReceiver()
        let watch = try program.watch([
            "State/*", "--rate", "100", "--to", "udp://127.0.0.1:\(receiver.port)", "--as", "teleplot",
        ])
        defer { end(watch) }
        func lines() -> [TeleplotLine] { receiver.lines.compactMap { TeleplotLine($0) } }
        #expect(waitUntil { lines().count > 50 })
        #expect(try program.tweak("set", ["Gain: a,b|c;d", "2"]).succeeded)
        #expect(waitUntil { lines().contains { $0.name == "Motor/State/Speed" && $0.value == 25 } })
        #expect(waitUntil { receiver.lines.contains { $0.hasPrefix(">") } })
        let units = Dictionary(lines().map { ($0.name, $0.unit) }) { first, _ in first }
        #expect(
            units == [
                "Motor/PID/Gain%3A a%2Cb%7Cc%3Bd": "%", "Motor/PID/Level": "", "Motor/PID/Steps": "",
                "Motor/State/Phase": "", "Motor/State/Speed": "rpm", "Motor/State/Stray": "",
                "timestamp/a%2Fb/On": "",
            ])
        #expect(lines().allSatisfy { $0.milliseconds > 1_600_000_000_000 })
        let change = try #require(receiver.lines.first { $0.hasPrefix(">") })
        let parts = change.dropFirst().split(separator: ":", maxSplits: 1)
        #expect(try #require(Double(parts[0])) > 1_600_000_000_000)
        #expect(parts[1] == "Motor/PID/Gain: a,b|c;d: 1.5 % → 2.0 % (override)")
        #expect(lines().count + receiver.lines.count { $0.hasPrefix(">") } == receiver.lines.count)
    }

    @Test func `Another address than loopback must be allowed, and nothing happens before`() throws {
        let program = try ViewedProgram()
        let receiver = try DatagramReceiver()
        for address in ["udp://192.0.2.1:9870", "udp://[2001:db8::1]", "udp://0.0.0.0:\(receiver.port)"] {
            let result = try program.tweak(
                "watch", ["Speed", "--to", address, "--output", program.home("run.csv")])
            #expect(result.status == 64 && result.error.contains("add --allow-remote"), "\(result)")
        }
        #expect(!FileManager.default.fileExists(atPath: program.home("run.csv")))
        // Linux takes this address for 127.0.0.1.
        let watch = try program.watch([
            "Speed", "--to", "udp://0.0.0.0:\(receiver.port)", "--allow-remote", "--output",
            program.home("run.csv"),
        ])
        defer { end(watch) }
        #expect(waitUntil { receiver.all.contains { $0.contains("Speed") } })
        #expect(
            waitUntil {
                (try? String(contentsOfFile: program.home("run.csv"), encoding: .utf8))?.contains("18.75")
                    == true
            })
    }

    @Test func `IPv6 loopback is loopback`() throws {
        let program = try ViewedProgram()
        let receiver = try DatagramReceiver(isIPv6: true)
        let watch = try program.watch(["Speed", "--to", "udp://[::1]:\(receiver.port)"])
        defer { end(watch) }
        #expect(waitUntil { receiver.all.contains { $0.contains("18.75") } })
    }

    @Test func `What nobody receives is counted and said, also after Ctrl-C`() throws {
        let program = try ViewedProgram()
        try DatagramReceiver.withClosedPort { port in
            let address = "udp://127.0.0.1:\(port)"
            let result = try program.tweak(
                "watch", ["Speed", "--rate", "100", "--duration", "1", "--to", address])
            #expect(result.succeeded && result.output.isEmpty)
            #expect(result.error.contains("\(address): Connection refused; datagrams are lost\n"))
            #expect(result.error.contains(#/\d+ samples?, .*\d+ datagrams lost\n/#), "\(result.error)")
            let watch = try program.watch(["Speed", "--to", address])
            #expect(waitUntil { watch.written.error.contains("refused") })
            kill(watch.processID, SIGINT)
            let ended = watch.wait()
            #expect(ended.status == 128 + SIGINT)
            #expect(ended.error.contains(#/ datagrams? lost\n/#), "\(ended.error)")
        }
    }

    @Test func `Wrong addresses and options are refused`() throws {
        let program = try ViewedProgram()
        for arguments in [
            ["--to", "127.0.0.1:9870"], ["--to", "tcp://127.0.0.1:9870"], ["--to", "udp://"],
            ["--to", "udp://127.0.0.1:0"], ["--to", "udp://127.0.0.1:65536"], ["--to", "udp://[::1"],
            ["--to", "udp://127.0.0.1:9870x"], ["--as", "teleplot"], ["--allow-remote"],
            ["--to", "udp://127.0.0.1", "--as", "csv"], ["--to", "udp://127.0.0.1", "--all-processes"],
            ["--output", "run.mcap", "--format", "csv"],
        ] {
            let result = try program.tweak("watch", arguments)
            #expect(result.status == 64 && !result.error.isEmpty, "\(arguments)")
        }
        let unknown = try program.tweak("watch", ["Speed", "--to", "udp://none.invalid"])
        #expect(unknown.status == 69 && unknown.error.contains("udp://none.invalid: "))
        #expect(try program.tweak("watch", ["Speed*x", "--to", "udp://127.0.0.1"]).status == 65)
    }
}
