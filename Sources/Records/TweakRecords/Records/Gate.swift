// SPDX-License-Identifier: BSD-3-Clause
/// A gate in the records of a binary: changes of the tweaks below its name wait in it, and the program's loop stores
/// them together when it passes. `CSupport/RecordFormat.md` explains the record.
package struct Gate: Hashable, Sendable {
    package let name: GateName
    /// The maximum number of stores in one pass.
    package let capacity: Int
    /// The offset of the first entry from the start of the record.
    package let entriesOffset: Int
    /// The declaration, `file:line`, or `nil`.
    package let location: String?

    package init(name: GateName, capacity: Int, entriesOffset: Int, location: String?) {
        self.name = name
        self.capacity = capacity
        self.entriesOffset = entriesOffset
        self.location = location
    }
}

/// The name of a gate: a category, or a collection in it.
package struct GateName: Sendable {
    package let category: String
    /// Empty if the gate is for the whole category.
    package let collection: String

    package init(_ category: String, _ collection: String = "") {
        self.category = category
        self.collection = collection
    }

    /// Whether changes of a tweak wait for the gate, unless a more specific one exists.
    package func contains(_ key: TweakKey) -> Bool {
        category.hasSameBytes(as: key.category)
            && (collection.isEmpty || collection.hasSameBytes(as: key.collection))
    }

    /// Whether the gate is for one collection, and so has precedence over the gate of the category.
    package var isSpecific: Bool { !collection.isEmpty }
}

extension GateName: Hashable, CustomStringConvertible {
    package static func == (left: Self, right: Self) -> Bool {
        left.category.hasSameBytes(as: right.category) && left.collection.hasSameBytes(as: right.collection)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ByteText(category))
        hasher.combine(ByteText(collection))
    }

    /// `Category` or `Category/Collection`, escaped as in ``TweakKey``.
    package var description: String {
        TweakKey.escape(category) + (isSpecific ? "/" + TweakKey.escape(collection) : "")
    }
}

extension Sequence<GateName> {
    /// The gate that a tweak is below: the more specific one, of two equal names the first.
    package func gate(of key: TweakKey) -> GateName? {
        var found: GateName?
        for name in self where name.contains(key) {
            if name.isSpecific { return name }
            found = found ?? name
        }
        return found
    }
}

extension Gate {
    /// Decodes the record of a gate.
    ///
    /// - Throws: ``RecordError/badGate(offset:)`` unless its texts and all its entries are inside the record.
    package init(record bytes: RawSpan, in range: Range<Int>, byteOrder: ByteOrder) throws(RecordError) {
        let start = range.lowerBound
        var text = RecordText(next: start + RecordLayout.textOffset, end: range.upperBound)
        guard start >= 0, range.upperBound <= bytes.byteCount, range.count > RecordLayout.textOffset,
            let capacity: UInt32 = bytes.number(at: start + RecordLayout.capacityOffset, byteOrder),
            let entries: UInt32 = bytes.number(at: start + RecordLayout.entriesOffset, byteOrder),
            let key = text.key(in: bytes, knownAs: nil), text.next(in: bytes) != nil
        else { throw .badGate(offset: start) }
        var location: String?
        // The entries follow the texts, which an empty one ends.
        text.end = min(text.end, start + Int(entries))
        var isEnded = false
        while !isEnded, let attribute = text.next(in: bytes) {
            isEnded = attribute.isEmpty
            let attribute = TweakDeclaration.Attribute(bytes.extracting(attribute))
            if attribute.key == "at" { location = location ?? attribute.value }
        }
        guard capacity > 0, entries % 8 == 0, isEnded || text.next == text.end,
            Int(entries) + RecordLayout.gateStoreSize * Int(capacity) <= range.count
        else { throw .badGate(offset: start) }
        self.init(
            name: GateName(key.category, key.collection), capacity: Int(capacity),
            entriesOffset: Int(entries), location: location)
    }
}

/// The records of a section that describe no tweak, but how tweaks are changed.
package struct ControlRecords: Sendable {
    package private(set) var gates: [(offset: Int, gate: Gate)] = []
    /// The offsets of the records that count changes for readers of several tweaks.
    package private(set) var sequences: [Int] = []
    /// The records whose functions describe the types of tweaks.
    package private(set) var types: [TypeRecord] = []

    package init() {}

    /// Finds the records without decoding tweaks. Broken ones are skipped.
    package init(in bytes: RawSpan, byteOrder: ByteOrder) {
        var walk = RecordWalk()
        while true {
            do throws(RecordError) {
                guard let record = try walk.nextOfAnyKind(in: bytes, byteOrder: byteOrder) else { return }
                try add(record, in: bytes, byteOrder: byteOrder)
            } catch {
                continue
            }
        }
    }

    /// Adds a record if it is of these kinds.
    mutating func add(
        _ record: RecordWalk.Record, in bytes: RawSpan, byteOrder: ByteOrder
    ) throws(RecordError) {
        if record.isGate {
            let gate = try Gate(record: bytes, in: record.range, byteOrder: byteOrder)
            gates.append((record.range.lowerBound, gate))
        } else if record.isSequence, record.range.count >= RecordLayout.defaultOffset {
            sequences.append(record.range.lowerBound)
        } else if record.isType, let type = TypeRecord(record: bytes, in: record.range) {
            types.append(type)
        }
    }
}

/// A record whose function describes the type of a tweak to the library.
package struct TypeRecord: Sendable {
    /// The offset in the section.
    package let offset: Int
    /// The tweak.
    package let key: TweakKey
    /// The name of the case that is the tweak's default; empty if the tweak's record has the default.
    package let defaultCase: String

    fileprivate init?(record bytes: RawSpan, in range: Range<Int>) {
        guard let (key, defaultCase) = TweakKey.withDefaultText(record: bytes, in: range) else { return nil }
        (offset, self.key, self.defaultCase) = (range.lowerBound, key, defaultCase)
    }
}
