// SPDX-License-Identifier: BSD-3-Clause
/// An error in the records of a `fbtweak` section. Offsets are relative to the section.
public enum RecordError: Error, Hashable {
    /// The size is not a multiple of 8, or too small for a record of its kind. The bytes up to the next
    /// plausible record, or to the end, are skipped.
    case badSize(UInt32, offset: Int, passedOver: Int = 0)
    /// The size reaches beyond the end of the section. Bytes are skipped as for
    /// ``badSize(_:offset:passedOver:)``.
    case beyondEnd(size: UInt32, offset: Int, sectionSize: Int, passedOver: Int = 0)
    /// The type is unknown, or not allowed for the kind of record.
    case unknownType(UInt8, offset: Int)
    /// A text has no NUL before the end of the record.
    case unterminatedText(offset: Int)
    /// The minimum is above the maximum, or one of them is NaN.
    case badLimits(offset: Int)
    /// The flag for choices is set for a type without numeric choices.
    case choicesOfType(TweakType, offset: Int)
    /// The choices leave no room for the text, one is NaN, there are none, or there are limits, too.
    case badChoices(offset: Int)
    /// The texts or the stores of a gate are not inside its record, or the gate has room for no store.
    case badGate(offset: Int)
    /// The elements of an array are too many, or none, or their initial values are not inside the record.
    case badArray(offset: Int)
}

extension RecordError: CustomStringConvertible {
    /// The problem and its offset.
    public var description: String {
        switch self {
        case .badSize(let size, let offset, let count):
            "record at offset \(offset): an invalid size of \(size) bytes\(Self.passedOver(count))"
        case .beyondEnd(let size, let offset, let sectionSize, let count):
            "record at offset \(offset): its \(size) bytes reach beyond the section's \(sectionSize)"
                + Self.passedOver(count)
        case .unknownType(let type, let offset):
            "record at offset \(offset): unknown type \(type)"
        case .unterminatedText(let offset):
            "record at offset \(offset): a text is unterminated"
        case .badLimits(let offset):
            "record at offset \(offset): the minimum is above the maximum, or is not a number"
        case .choicesOfType(let type, let offset):
            "record at offset \(offset): the type \(type) has no block of choices"
        case .badChoices(let offset):
            "record at offset \(offset): its choices are missing, do not fit, are not numbers, or come with limits"
        case .badGate(let offset):
            "record at offset \(offset): a gate whose texts or stores are not inside it"
        case .badArray(let offset):
            "record at offset \(offset): an array whose initial values are not inside it, or of no possible size"
        }
    }
    private static func passedOver(_ count: Int) -> String {
        count > 0 ? "; \(count) bytes are skipped" : ""
    }
}
