// SPDX-License-Identifier: BSD-3-Clause
import TestThreads
import TweakRecords

@testable import Tweaks

/// A record as a compiler would write it.
struct Record {
    var key: TweakKey
    var type: TweakType
    var initial: UInt64 = 0
    var limits: ClosedRange<UInt64>?
    var text = ""
    var location = "test.c:1"
    /// Further attributes.
    var attributes: [String] = []
    /// The numbers among which the value is.
    var choices: [UInt64] = []
    var isMonitor = false

    static func bool(_ name: String, _ initial: Bool) -> Record {
        Record(key: .test(name), type: .bool, initial: initial ? 1 : 0)
    }

    static func integer(
        _ name: String, _ initial: Int128, _ limits: ClosedRange<Int128>? = nil, type: TweakType = .int32
    ) -> Record {
        Record(
            key: .test(name), type: type, initial: UInt64(truncatingIfNeeded: initial),
            limits: limits.map {
                // Only the order of the bits of two numbers of one sign is that of the numbers.
                UInt64(truncatingIfNeeded: $0.lowerBound)...UInt64(truncatingIfNeeded: $0.upperBound)
            })
    }

    static func float(_ name: String, _ initial: Float) -> Record {
        Record(key: .test(name), type: .float, initial: UInt64(initial.bitPattern))
    }

    static func double(_ name: String, _ initial: Double, _ limits: ClosedRange<Double>? = nil) -> Record {
        Record(
            key: .test(name), type: .double, initial: initial.bitPattern,
            limits: limits.map { $0.lowerBound.bitPattern...$0.upperBound.bitPattern })
    }

    static func string(_ name: String, _ initial: String) -> Record {
        Record(key: .test(name), type: .string, text: initial)
    }

    static func color(_ name: String, _ initial: TweakColor) -> Record {
        let bytes = [initial.red, initial.green, initial.blue, initial.alpha, 0, 0, 0, 0]
        let bits = bytes.withUnsafeBytes { $0.load(as: UInt64.self) }
        return Record(key: .test(name), type: .color, initial: bits)
    }

    static func action(_ name: String, function: UInt64 = 0x1234) -> Record {
        Record(key: .test(name), type: .action, initial: function)
    }

    /// A number that the program stores; other kinds of records have a kind of their own.
    static func monitor(_ name: String, _ type: TweakType) -> Record {
        Record(key: .test(name), type: type, isMonitor: true)
    }

    func with(_ attributes: String..., choices: [UInt64] = []) -> Record {
        var record = self
        record.attributes += attributes + choices.map { _ in "choice=" }
        record.choices = choices
        return record
    }

    func named(_ category: String, _ collection: String, _ name: String) -> Record {
        var record = self
        record.key = TweakKey(category, collection, name)
        return record
    }

    func at(_ location: String) -> Record {
        var record = self
        record.location = location
        return record
    }

    var bytes: [UInt8] {
        let levels = [key.category, key.collection, key.name, text, "at=" + location] + attributes + [""]
        var texts: [UInt8] = levels.flatMap { level -> [UInt8] in Array(level.utf8) + [0] }
        texts += [UInt8](repeating: 0, count: (8 - texts.count % 8) % 8)
        texts += choices.flatMap { choice -> [UInt8] in Self.bytes(of: choice) }
        let size = UInt32(RecordLayout.textOffset + texts.count)
        let flags: UInt8 =
            (limits == nil ? 0 : RecordLayout.hasMinimum | RecordLayout.hasMaximum)
            | (choices.isEmpty ? 0 : RecordLayout.hasChoices)
        let kind =
            type == .action
            ? RecordLayout.actionKind : isMonitor ? RecordLayout.monitorKind : RecordLayout.valueKind
        let head: [UInt8] = [RecordLayout.version, kind, type.rawValue, flags]
        // The cell and the default, the limits, no step.
        let values: [UInt64] = [initial, initial, limits?.lowerBound ?? 0, limits?.upperBound ?? 0, 0]
        return Self.bytes(of: size) + head + values.flatMap { value -> [UInt8] in Self.bytes(of: value) }
            + texts
    }

    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }
}

/// The record of a gate as `fbtweak.h` writes it.
struct GateRecord {
    var category = "Test"
    var collection = ""
    var capacity = 64

    var bytes: [UInt8] {
        var texts = [category, collection, "", "", "at=loop.c:1", ""].flatMap { text -> [UInt8] in
            Array(text.utf8) + [0]
        }
        texts += [UInt8](repeating: 0, count: (8 - texts.count % 8) % 8)
        let entries = RecordLayout.textOffset + texts.count
        let stores = [UInt8](repeating: 0, count: capacity * RecordLayout.gateStoreSize)
        var bytes = Self.bytes(UInt32(entries + stores.count))
        bytes += [RecordLayout.version, RecordLayout.gateKind, 0, 0]
        bytes += Self.bytes(UInt64(0))
        bytes += Self.bytes(UInt32(capacity))
        bytes += Self.bytes(UInt32(entries))
        return bytes + [UInt8](repeating: 0, count: 24) + texts + stores
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }
}

/// The record of a sequence as `fbtweak.h` writes it.
struct SequenceRecord {
    /// Odd while values are stored.
    var number: UInt64 = 0

    var bytes: [UInt8] {
        var words = [UInt64](repeating: 0, count: 7)
        words[1] = number
        var bytes = words.withUnsafeBytes { Array($0) }
        let size = UInt32(bytes.count)
        bytes.replaceSubrange(0..<4, with: withUnsafeBytes(of: size) { Array($0) })
        bytes[RecordLayout.versionOffset] = RecordLayout.version
        bytes[RecordLayout.kindOffset] = RecordLayout.sequenceKind
        return bytes
    }
}

/// A loop with a gate.
///
/// `@unchecked Sendable`: the record is only accessed atomically, or by the thread that has taken what waits.
struct SyntheticLoop: @unchecked Sendable {
    fileprivate let record: UnsafeMutableRawBufferPointer

    /// Begins to pass the gate.
    ///
    /// - Returns: Whether something waited.
    @discardableResult
    func take() -> Bool { test_gate_take(record.baseAddress) != 0 }

    /// Stores what was taken.
    func store() { test_gate_store(record.baseAddress) }

    /// - Returns: Whether something waited.
    @discardableResult
    func pass() -> Bool {
        guard take() else { return false }
        store()
        return true
    }

    /// The number of stores that wait.
    var waiting: UInt64 { test_gate_waiting(record.baseAddress) }

    /// Pretends that other threads have passed.
    func passOnOtherThreads() {
        record.storeBytes(of: 2, toByteOffset: RecordLayout.strangersOffset, as: UInt32.self)
    }
}

extension TweakKey {
    /// A key in the category and collection that most tests use.
    static func test(_ name: String) -> TweakKey { TweakKey("Test", "Values", name) }
}

/// A store with tweaks of its own, in memory that looks like an image's.
///
/// `@unchecked Sendable`: the memory is written here once, and afterwards only cells, atomically by the store.
struct SyntheticTweaks: @unchecked Sendable {
    let store = TweakStore()
    let messages = CollectedMessages()
    private let records: UnsafeMutableRawBufferPointer
    private var offsets: [Int] = []
    private var gates: [Int] = []
    private var sequences: [Int] = []

    init(
        _ records: Record..., gates: [GateRecord] = [], sequences: [SequenceRecord] = [],
        followedBy garbage: [UInt8] = []
    ) {
        var bytes: [UInt8] = []
        for record in records {
            offsets.append(bytes.count)
            bytes += record.bytes
        }
        for gate in gates {
            self.gates.append(bytes.count)
            bytes += gate.bytes
        }
        for sequence in sequences {
            self.sequences.append(bytes.count)
            bytes += sequence.bytes
        }
        bytes += garbage
        // Never freed, as an image that stays loaded.
        self.records = .allocate(byteCount: bytes.count, alignment: 8)
        self.records.copyBytes(from: bytes)
        store.logger = messages.logger
        let start = UInt(bitPattern: self.records.baseAddress)
        store.add([
            ProcessImage(
                path: "synthetic", memory: start..<start + UInt(bytes.count),
                records: [UnsafeRawBufferPointer(self.records)])
        ])
    }

    /// What a program would read from the cell of a record.
    func cell<Value: BitwiseCopyable>(_ index: Int = 0, as _: Value.Type = Value.self) -> Value {
        records.load(fromByteOffset: offsets[index] + RecordLayout.cellOffset, as: Value.self)
    }

    /// The loop that passes a gate.
    func loop(_ index: Int = 0) -> SyntheticLoop {
        SyntheticLoop(record: UnsafeMutableRawBufferPointer(rebasing: records[gates[index]...]))
    }

    /// The number of a sequence, which counts changes.
    func sequence(_ index: Int = 0) -> UInt64 {
        records.load(fromByteOffset: sequences[index] + RecordLayout.cellOffset, as: UInt64.self)
    }

    /// Does what a program does with a monitor.
    func store(_ number: Double, in index: Int) {
        records.storeBytes(
            of: number, toByteOffset: offsets[index] + RecordLayout.cellOffset, as: Double.self)
    }

    /// The address of the cell of a record.
    func address(_ index: Int) -> UInt {
        UInt(bitPattern: records.baseAddress) + UInt(offsets[index] + RecordLayout.cellOffset)
    }

    /// What a program would read from the cell of a string record; `nil` for the default.
    func text(_ index: Int = 0) -> String? {
        cell(index, as: UnsafePointer<CChar>?.self).map { String(cString: $0) }
    }
}

/// An image with tweaks, which a store can open and close.
///
/// `@unchecked Sendable`: the memory is written here once, and afterwards only cells, atomically by the store.
struct SyntheticImage: @unchecked Sendable {
    private let records: UnsafeMutableRawBufferPointer
    private var offsets: [Int] = []

    init(_ records: Record...) {
        var bytes: [UInt8] = []
        for record in records {
            offsets.append(bytes.count)
            bytes += record.bytes
        }
        // Never freed: readers may still look at it when it is closed.
        self.records = .allocate(byteCount: bytes.count, alignment: 8)
        self.records.copyBytes(from: bytes)
    }

    private var memory: Range<UInt> {
        let start = UInt(bitPattern: records.baseAddress)
        return start..<start + UInt(records.count)
    }

    func open(in store: TweakStore) {
        let image = ProcessImage(
            path: "synthetic plug-in", memory: memory, records: [UnsafeRawBufferPointer(records)],
            isLasting: false)
        store.withState { $0.open(image) }
    }

    func close(in store: TweakStore) {
        store.withState { state in
            guard let (image, number) = state.images.opened(at: memory.lowerBound) else { return }
            state.close(image, number)
        }
    }

    /// What a program would read from the cell of a record.
    func cell<Value: BitwiseCopyable>(_ index: Int = 0, as _: Value.Type = Value.self) -> Value {
        records.load(fromByteOffset: offsets[index] + RecordLayout.cellOffset, as: Value.self)
    }
}

extension TweakStore {
    /// Sets tweaks on the terms of a client's request.
    func set(
        _ values: [(key: TweakKey, value: TweakValue)], by author: ChangeAuthor = .program, on terms: SetTerms
    ) throws {
        let admitted = try values.map { key, value in
            (key: key, value: Optional(try declaration(of: key).admit(value).value))
        }
        apply { state in state.update(admitted, in: .overrides, by: author, terms) }
    }
}
