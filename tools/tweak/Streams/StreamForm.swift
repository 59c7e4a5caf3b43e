// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import TweakJSON
import TweakRecords

/// A format of streams.
enum StreamForm: String, Keyword {
    case plotjuggler, teleplot

    /// The port at which its receiver listens by default.
    var port: UInt16 {
        switch self {
        case .plotjuggler: 9870
        case .teleplot: 47269
        }
    }

    /// - Parameter names: The streamed monitors and tweaks, sorted by key.
    func encoder(of names: [StreamedName]) -> any StreamEncoder {
        switch self {
        case .plotjuggler: PlotJugglerEncoder(names)
        case .teleplot: TeleplotEncoder(names)
        }
    }
}

/// The name of a streamed monitor or tweak.
struct StreamedName {
    let key: TweakKey
    let unit: String?
}

/// Makes datagrams of values and changes.
protocol StreamEncoder {
    /// Adds values at a time in seconds since 1970; all numbers are finite.
    ///
    /// - Parameter values: The values, and the indices of their names, ascending.
    mutating func add(_ values: [(name: Int, value: Double)], at time: Double)
    /// Adds a mark.
    ///
    /// - Parameters:
    ///   - label: The change as text for people.
    ///   - number: The number of changes until now.
    mutating func mark(_ label: String, number: Int, at time: Double)
    /// Returns and forgets the datagrams.
    mutating func take() -> [[UInt8]]
}

/// The largest datagram with several values: the payload that fits into an Ethernet frame with IPv6 and an optional
/// header.
let streamedBytes = 1432

/// JSON for PlotJuggler's UDP server: `{"timestamp":1700000000.5,"Motor":{"State":{"Speed":12.5}}}`, whose curves have
/// the names of tweaks.
///
/// PlotJuggler ignores texts, takes stamps only while every message has one, and stops at a message that is not JSON.
/// So a change counts up the curve `changes/count`, and nothing is sent for infinities.
///
/// Source: `nlohmann_parsers.cpp` and `udp_server.cpp` of PlotJuggler 3.16.
struct PlotJugglerEncoder: StreamEncoder {
    /// The names of an object in an object, as JSON with the colon.
    private struct Path {
        let category, collection, name: [UInt8]
    }

    private let paths: [Path]
    private var complete: [[UInt8]] = []

    init(_ names: [StreamedName]) {
        paths = names.map { name in
            // Categories with the names of other members, which no escaped name has.
            let category =
                switch name.key.category {
                case "timestamp": "%74imestamp"
                case "changes": "%63hanges"
                case let other: TweakKey.escape(other)
                }
            return Path(
                category: Self.member(category),
                collection: Self.member(TweakKey.escape(name.key.collection)),
                name: Self.member(TweakKey.escape(name.key.name)))
        }
    }

    mutating func add(_ values: [(name: Int, value: Double)], at time: Double) {
        let start = Array("{\"timestamp\":\(stamp(time))".utf8)
        var message = start
        var last: Path?
        for (name, value) in values {
            let path = paths[name]
            let number = numberText(value).utf8
            let size = path.category.count + path.collection.count + path.name.count + number.count + 8
            if last != nil, message.count + size > streamedBytes {
                complete.append(message + Self.end)
                (message, last) = (start, nil)
            }
            let isSameCategory = last?.category == path.category
            if isSameCategory, last?.collection == path.collection {
                message.append(UInt8(ascii: ","))
            } else {
                if last != nil { message += isSameCategory ? "}".utf8 : "}}".utf8 }
                message.append(UInt8(ascii: ","))
                if !isSameCategory { message += path.category + [UInt8(ascii: "{")] }
                message += path.collection + [UInt8(ascii: "{")]
            }
            message += path.name
            message += number
            last = path
        }
        if last != nil { complete.append(message + Self.end) }
    }

    mutating func mark(_ label: String, number: Int, at time: Double) {
        let change = "{\"timestamp\":\(stamp(time)),\"changes\":{\"count\":\(number),\"last\":"
        complete.append(Array(change.utf8) + jsonText(label) + Array("}}".utf8))
    }

    mutating func take() -> [[UInt8]] {
        defer { complete = [] }
        return complete
    }

    private static let end = Array("}}}".utf8)
    private static func member(_ name: String) -> [UInt8] { jsonText(name) + [UInt8(ascii: ":")] }

    /// Microseconds, the resolution of a double for a time since 1970.
    private func stamp(_ time: Double) -> Double { (time * 1e6).rounded() / 1e6 }
}

/// Lines for Teleplot: `Motor/State/Speed:1700000000500:12.5§rpm`, and changes as lines of its log,
/// `>1700000000500:Motor/PID/P: 1.0 → 2.0 (override)`.
///
/// Source: Teleplot's README, and its `serverMessageReading.js`.
struct TeleplotEncoder: StreamEncoder {
    /// The part of a line before and after the time and the value.
    private struct Line {
        let name, unit: [UInt8]
    }

    private let lines: [Line]
    private var complete: [[UInt8]] = []
    private var datagram: [UInt8] = []

    init(_ names: [StreamedName]) {
        lines = names.map { name in
            var text = Self.escape("\(name.key)")
            // These would begin a line with another meaning.
            if text.hasPrefix("statsd") || text.hasPrefix(">") { text = "%" + text.hexadecimalOfFirst }
            return Line(
                name: Array(text.utf8),
                unit: name.unit.map { Array("§\(Self.escape($0))".utf8) } ?? [])
        }
    }

    mutating func add(_ values: [(name: Int, value: Double)], at time: Double) {
        let stamp = Self.stamp(time)
        for (name, value) in values {
            add(lines[name].name + Array(":\(stamp):\(numberText(value))".utf8) + lines[name].unit)
        }
    }

    mutating func mark(_ label: String, number: Int, at time: Double) {
        let text = label.unicodeScalars.map { $0.value < 0x20 ? " " : String($0) }.joined()
        add(Array(">\(Self.stamp(time)):\(text)".utf8))
    }

    mutating func take() -> [[UInt8]] {
        if !datagram.isEmpty { complete.append(datagram) }
        defer { (complete, datagram) = ([], []) }
        return complete
    }

    private mutating func add(_ line: [UInt8]) {
        if !datagram.isEmpty, datagram.count + 1 + line.count > streamedBytes {
            complete.append(datagram)
            datagram = []
        }
        if !datagram.isEmpty { datagram.append(UInt8(ascii: "\n")) }
        datagram += line
    }

    /// Milliseconds, with microseconds as their fraction.
    private static func stamp(_ time: Double) -> String { numberText((time * 1e6).rounded() / 1e3) }

    /// Encodes what has a meaning in a line. Names have percent signs only in such escapes.
    private static func escape(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || ":|;,§".unicodeScalars.contains(scalar)
                ? String(scalar).percentEncoded : String(scalar)
        }.joined()
    }
}

extension String {
    /// The text with its first byte in hexadecimal digits.
    fileprivate var hexadecimalOfFirst: String {
        (utf8.first.map { $0.digits(2, radix: 16, uppercase: true) } ?? "") + dropFirst()
    }
}

/// The shortest text that is read as the number, which is finite.
private func numberText(_ number: Double) -> String {
    Int64(exactly: number).flatMap { $0.magnitude < 1 << 53 ? "\($0)" : nil } ?? "\(number)"
}

private func jsonText(_ text: String) -> [UInt8] { JSONValue.scalar(.string(text)).json() }
