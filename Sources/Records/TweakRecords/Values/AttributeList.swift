// SPDX-License-Identifier: BSD-3-Clause
/// The attributes of a declaration.
///
/// The attributes of a record are kept as bytes until one is read: few are, and decoding all takes longer than the rest of
/// the record.
package enum AttributeList: Sendable {
    /// The texts of a record, each with its NUL.
    case recorded([UInt8])
    case listed([TweakDeclaration.Attribute])

    /// All attributes, in their order.
    var all: [TweakDeclaration.Attribute] {
        switch self {
        case .listed(let attributes): return attributes
        case .recorded(let texts):
            var attributes: [TweakDeclaration.Attribute] = []
            let bytes = texts.span.bytes
            var text = RecordText(next: 0, end: bytes.byteCount)
            while let next = text.next(in: bytes) {
                attributes.append(TweakDeclaration.Attribute(bytes.extracting(next)))
            }
            return attributes
        }
    }

    /// Returns whether there is an attribute with a key.
    func contains(_ key: String) -> Bool {
        switch self {
        case .listed(let attributes): attributes.contains { $0.key == key }
        case .recorded(let texts): texts.span.bytes.valueOfAttribute(key) != nil
        }
    }

    /// The UTF-8 bytes of the value of the first attribute with a key; `nil` if there is none. An attribute without a
    /// value has no bytes.
    func value(of key: String) -> ArraySlice<UInt8>? {
        switch self {
        case .listed(let attributes): attributes.first { $0.key == key }.map { Array($0.value.utf8)[...] }
        case .recorded(let texts): texts.span.bytes.valueOfAttribute(key).map { texts[$0] }
        }
    }
}

extension AttributeList: Hashable {
    package static func == (left: Self, right: Self) -> Bool { left.all == right.all }
    package func hash(into hasher: inout Hasher) { hasher.combine(all) }
}

extension RawSpan {
    /// The range of the value of the first attribute with a key in texts with a NUL each.
    fileprivate func valueOfAttribute(_ key: String) -> Range<Int>? {
        var text = RecordText(next: 0, end: byteCount)
        while let next = text.next(in: self) {
            if let start = extracting(next).startOfValue(key) {
                return next.lowerBound + start..<next.upperBound
            }
        }
        return nil
    }

    /// The offset of the value in an attribute, at most at its end; `nil` if it has another key.
    func startOfValue(_ key: String) -> Int? {
        let count = key.utf8.count
        guard byteCount >= count, byteCount == count || byte(at: count) == UInt8(ascii: "="),
            extracting(first: count).withUnsafeBytes({ key.hasBytes($0) })
        else { return nil }
        return min(count + 1, byteCount)
    }
}
