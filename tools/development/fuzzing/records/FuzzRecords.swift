// SPDX-License-Identifier: BSD-3-Clause
import TweakRecords

/// Decodes the input as the records of a section, and uses each tweak as readers do. The lowest bit of the first byte
/// is the byte order.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzRecords(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 0 else { return 0 }
    let order: ByteOrder = start[0] & 1 == 0 ? .little : .big
    // A copy of exactly the section's size, so that the sanitizer detects overruns.
    let bytes = Array(UnsafeBufferPointer(start: start + 1, count: count - 1))
    let section = RecordSection(bytes.span.bytes, byteOrder: order)
    var end = 0
    for (offset, tweak) in section.tweaks {
        precondition(
            offset >= end && offset % 8 == 0 && offset < bytes.count, "records are in order and inside")
        end = offset + 48
        let values = [tweak.defaultValue, tweak.minimum, tweak.maximum, tweak.step].compactMap { $0 }
        precondition((values + tweak.choices.map(\.value)).allSatisfy { isValue($0, of: tweak.type) })
        _ = "\(tweak.key) \(tweak.allowed) \(tweak.defaultValue) \(tweak.problem.map { "\($0)" } ?? "")"
        _ = try? tweak.admit(tweak.defaultValue)
        _ = try? tweak.admit(text: tweak.defaultValue.description)
        precondition(TweakKey("\(tweak.key)") == tweak.key, "a name is read back as it was")
        checkRoundTrip(tweak)
    }
    for error in section.errors { precondition(!error.description.isEmpty) }
    bytes.withUnsafeBytes { records in
        RecordMatcher(section.tweaks.prefix(4).map(\.declaration.key)).forEachMatch(in: records) { range, _ in
            precondition(range.upperBound <= records.count)
        }
    }
    return 0
}

private func isValue(_ value: TweakValue, of type: TweakType) -> Bool {
    switch (type, value) {
    case (.bool, .bool), (.float, .double), (.double, .double), (.color, .color), (.action, .nothing): true
    case (.bool, .integer): true  // The state of a monitor.
    case (.string, .string(let text)): !text.utf8.contains(0)
    case (_, .string): value == .absent && TweakValue.emptyCell(type) != nil
    case (.float, .integer), (.double, .integer): true  // The same.
    case (_, .integer(let number)): type.integerRange?.contains(number) == true
    default: false
    }
}

/// A declaration that is encoded and decoded again stays the same.
private func checkRoundTrip(_ tweak: TweakDeclaration) {
    guard tweak.problem == nil else { return }
    let record = tweak.record
    precondition(record.count % 8 == 0)
    let again = RecordSection(record.span.bytes, byteOrder: .native)
    precondition(again.errors.isEmpty && again.tweaks.map(\.declaration.key) == [tweak.key])
}
