// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakRecords

/// Writes one JSON document. Scripts rely on its keys.
final class JSONReport: Report {
    private var output = JSONBuffer()
    private var isFirst = true

    init() { output.write("{\n  \"images\" : [\n") }

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        var count = 0
        let (gates, gateErrors) = image.gates()
        if isShownEmpty { begin(image) }
        let errors = image.forEachTweakByName { tweak in
            if count == 0, !isShownEmpty { begin(image) }
            output.write(count == 0 ? "" : ",\n")
            output.write(tweak)
            count += 1
        }
        if isShownEmpty || count > 0 {
            output.write("\n      ]")
            output.write(gates)
            output.write("\n    }")
        }
        output.flush()
        return tell(errors + gateErrors, of: image)
    }

    private func begin(_ image: ImageDump) {
        output.write(isFirst ? "    {\n" : ",\n    {\n")
        isFirst = false
        output.write("      \"architecture\" : ")
        output.write(text: image.architecture)
        output.write(",\n      \"buildID\" : ")
        if let buildID = image.buildID { output.write(text: buildID) } else { output.write("null") }
        output.write(",\n      \"path\" : ")
        output.write(text: image.path)
        output.write(",\n      \"tweaks\" : [\n")
    }

    func finish() {
        output.write("\n  ]\n}\n")
        output.flush()
    }
}

/// JSON on its way to standard output, in the format of `printJSON`. Building and printing a tree of each tweak takes
/// thirty times as long, and `JSONTweak` with a `JSONWriter` a quarter longer: 100,000 tweaks 0.25 s instead of 0.20 s.
struct JSONBuffer {
    private var bytes: [UInt8] = []

    mutating func write(_ json: StaticString) {
        json.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func flush() {
        print(String(decoding: bytes, as: UTF8.self), terminator: "")
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func write(text: String) {
        // `withUTF8` copies the text, which takes as long as everything else here.
        let isWritten = text.utf8.withContiguousStorageIfAvailable { text in
            guard text.allSatisfy({ 0x20..<0x7F ~= $0 && $0 != 0x22 && $0 != 0x5C }) else { return false }
            bytes.append(0x22)
            bytes.append(contentsOf: text)
            bytes.append(0x22)
            return true
        }
        if isWritten != true { bytes.append(contentsOf: jsonText(text).utf8) }
    }

    /// Writes the JSON form of a tweak, as in `JSONTweak`.
    mutating func write(_ tweak: ImageDump.Tweak) {
        write("        {")
        var isFirst = true
        for member in Member.all {
            guard let content = member.content(tweak) else { continue }
            write(isFirst ? "\n" : ",\n")
            isFirst = false
            bytes.append(contentsOf: member.name)
            switch content {
            case .key(let key): write(key: key)
            case .setting(.value(let value)): write(value: value)
            case .setting(.choices(let choices)): write(choices)
            }
        }
        write("\n        }")
        if bytes.count > 1 << 16 { flush() }
    }

    /// Writes the member `gates` of an image, unless there are none. It comes last, because the tweaks are not counted
    /// before.
    mutating func write(_ gates: [Gate]) {
        guard !gates.isEmpty else { return }
        write(",\n      \"gates\" : [")
        for (index, gate) in gates.enumerated() {
            write(index > 0 ? ",\n        {\n" : "\n        {\n")
            write("          \"capacity\" : ")
            write(value: .integer(Int128(gate.capacity)))
            write(",\n          \"gate\" : ")
            write(text: "\(gate.name)")
            if let location = gate.location {
                write(",\n          \"location\" : ")
                write(text: location)
            }
            write("\n        }")
        }
        write("\n      ]")
    }

    private mutating func write(key: TweakKey) {
        let start = bytes.count
        bytes.append(0x22)
        guard append(level: key.category), append(level: key.collection), append(level: key.name) else {
            bytes.removeSubrange(start...)
            return write(text: key.description)
        }
        // Replaces the last slash.
        bytes[bytes.count - 1] = 0x22
    }

    /// - Returns: `false` if a character must be escaped.
    private mutating func append(level: String) -> Bool {
        let isPlain = level.utf8.withContiguousStorageIfAvailable { level in
            bytes.append(contentsOf: level)
            bytes.append(0x2F)
            return level.allSatisfy {
                0x20..<0x7F ~= $0 && $0 != 0x22 && $0 != 0x5C && $0 != 0x2F && $0 != 0x25
            }
        }
        return isPlain == true
    }

    private mutating func write(_ choices: [TweakChoice]) {
        write("[")
        for (index, choice) in choices.enumerated() {
            write(index > 0 ? ",\n            {\n" : "\n            {\n")
            if let label = choice.label {
                write("              \"label\" : ")
                write(text: label)
                write(",\n")
            }
            write("              \"value\" : ")
            write(value: choice.value)
            write("\n            }")
        }
        write("\n          ]")
    }

    /// Writes a number without a fraction as an integer, and a value that JSON lacks as a text.
    mutating func write(value: TweakValue) {
        switch value {
        case .bool(let flag): write(flag ? "true" : "false")
        case .integer(let number):
            // Printing an Int takes a third of the time.
            bytes.append(contentsOf: (Int(exactly: number).map { "\($0)" } ?? "\(number)").utf8)
        case .double(let number) where number.isFinite:
            let text = "\(number)".utf8
            bytes.append(contentsOf: text.suffix(2).elementsEqual(".0".utf8) ? text.dropLast(2) : text[...])
        case .double(let number): write(text: "\(number)")
        case .string(let text): write(text: text)
        case .color(let color): write(text: "\(color)")
        case .nothing: write("null")
        }
    }
}

/// A member of the JSON form of a tweak.
private struct Member: Sendable {
    enum Content {
        case key(TweakKey)
        case setting(TweakOption.Setting)
    }

    /// The name as written, with the punctuation around it.
    let name: [UInt8]
    let content: @Sendable (ImageDump.Tweak) -> Content?

    /// All members, sorted by name.
    static let all: [Member] = {
        let options = TweakOption.all.map { option in
            Member(option.name) { option.setting($0.declaration).map(Content.setting) }
        }
        let others = [
            Member("tweak") { .key($0.declaration.key) },
            value("category") { .string($0.declaration.key.category) },
            value("collection") { .string($0.declaration.key.collection) },
            value("name") { .string($0.declaration.key.name) },
            value("type") { .string("\($0.declaration.type)") },
            value("default") { $0.declaration.defaultValue },
            value("monitor") { $0.declaration.isMonitor ? true : nil },
            value("value") { $0.value },
        ]
        return (options + others).sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }()

    private init(_ name: String, content: @escaping @Sendable (ImageDump.Tweak) -> Content?) {
        self.name = Array("          \"\(name)\" : ".utf8)
        self.content = content
    }

    private static func value(
        _ name: String, of value: @escaping @Sendable (ImageDump.Tweak) -> TweakValue?
    ) -> Member {
        Member(name) { value($0).map { .setting(.value($0)) } }
    }
}
