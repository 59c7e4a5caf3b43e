// SPDX-License-Identifier: BSD-3-Clause
/// Offsets and constants of a version 1 record; `CSupport/RecordFormat.md` explains them.
package enum RecordLayout {
    package static let version: UInt8 = 1
    package static let valueKind: UInt8 = 1
    package static let actionKind: UInt8 = 2
    package static let monitorKind: UInt8 = 3
    package static let gateKind: UInt8 = 4
    package static let sequenceKind: UInt8 = 5
    package static let variableKind: UInt8 = 6
    package static let typeKind: UInt8 = 7
    package static let optionalKind: UInt8 = 8

    /// Returns whether records of a kind describe tweaks.
    package static func describesTweaks(_ kind: UInt8) -> Bool {
        (valueKind...monitorKind).contains(kind) || kind == variableKind
            || kind == optionalKind
    }

    package static let versionOffset = 4
    package static let kindOffset = 5
    package static let typeOffset = 6
    package static let flagsOffset = 7
    package static let cellOffset = 8
    package static let defaultOffset = 16
    package static let minimumOffset = 24
    package static let maximumOffset = 32
    package static let stepOffset = 40
    package static let textOffset = 48
    package static let choiceSize = 8

    package static let hasMinimum: UInt8 = 1
    package static let hasMaximum: UInt8 = 2
    package static let hasStep: UInt8 = 4
    package static let hasChoices: UInt8 = 8
    package static let knowsDefault: UInt8 = 16
    package static let isArray: UInt8 = 32

    /// The fields of an array, in place of the default.
    package static let countOffset = 16
    package static let initialOffset = 20
    /// The size of an initial value in a record.
    package static let initialSize = 8
    /// The most elements of an array.
    package static let mostElements = 256

    /// The fields of a gate. The number of its waiting stores is in the cell.
    package static let capacityOffset = 16
    package static let entriesOffset = 20
    package static let strangersOffset = 32
    package static let gateStoreSize = 24
    /// Set in the cell while the loop stores.
    package static let gateIsTaken: UInt64 = 1 << 63
}

/// The types of the notes named `FBTweak`; `CSupport/RecordFormat.md` explains them, and `fbtweak.h` has the same numbers for C.
package enum NoteType: UInt32 {
    /// The location of an image's records.
    case image = 1
    /// The location of the library in the image.
    case library
    /// The program's name in the image.
    case application
    /// The image has variables that are tweaks. Only the library needs it.
    case variables
    /// The image uses the store of the process also without records.
    case use
}

/// The byte order of the machine that a binary is made for.
public enum ByteOrder: Sendable {
    /// Least significant byte first, as on x86-64, AArch64 and RISC-V.
    case little
    /// Most significant byte first, as on s390x.
    case big

    /// The byte order of this machine.
    public static var native: ByteOrder { 1 == 1.littleEndian ? .little : .big }
}

extension RawSpan {
    /// The number at an offset; `nil` if it is not entirely inside.
    package func number<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as _: Number.Type = Number.self, _ order: ByteOrder
    ) -> Number? {
        guard offset >= 0, offset <= byteCount - MemoryLayout<Number>.size else { return nil }
        let number = unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
        return order == .native ? number : number.byteSwapped
    }
}
