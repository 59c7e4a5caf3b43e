// SPDX-License-Identifier: BSD-3-Clause
internal import CLibDW

/// The source language of a unit, which defines the meaning of attributes that its types omit.
///
/// Source: the table of languages in DWARF 5, section 7.12, and the languages registered since.
struct SourceLanguage: Hashable {
    private let code: Int

    /// The language of a unit; `nil` if the unit has none, such as one with entries that several units share.
    init?(of unit: DebugEntry) {
        guard let code = unit.attribute(Int(DW_AT_language))?.unsigned else { return nil }
        self.code = Int(clamping: code)
    }

    var isSwift: Bool { code == Int(DW_LANG_Swift) }

    private enum Family { case fromZero, fromOne, fortran, julia, unknown }

    private var family: Family {
        switch code {
        case Int(DW_LANG_Fortran77), Int(DW_LANG_Fortran90), Int(DW_LANG_Fortran95), Int(DW_LANG_Fortran03),
            Int(DW_LANG_Fortran08), Self.fortran18:
            .fortran
        case Int(DW_LANG_Julia): .julia
        case Int(DW_LANG_Ada83), Int(DW_LANG_Ada95), Self.ada2005, Self.ada2012, Int(DW_LANG_Cobol74),
            Int(DW_LANG_Cobol85), Int(DW_LANG_Pascal83), Int(DW_LANG_Modula2), Int(DW_LANG_Modula3),
            Int(DW_LANG_PLI):
            .fromOne
        case Int(DW_LANG_C89)...Int(DW_LANG_BLISS), Self.kotlin...Self.c17: .fromZero
        default: .unknown
        }
    }

    /// The lowest index of an array without a lower bound; `nil` if the language is unknown.
    var lowestIndex: Int64? {
        switch family {
        case .fromZero: 0
        case .fromOne, .fortran, .julia: 1
        case .unknown: nil
        }
    }

    /// Whether the elements that differ in the first index only are neighbours, unless the array says otherwise; `nil`
    /// if the language is unknown.
    var isColumnMajor: Bool? {
        switch family {
        case .fromZero, .fromOne: false
        case .fortran, .julia: true
        case .unknown: nil
        }
    }

    // Registered after DWARF 5, and missing in older headers. Those from Kotlin to C17 count from 0.
    private static let kotlin = 0x26
    private static let c17 = 0x2C
    private static let fortran18 = 0x2D
    private static let ada2005 = 0x2E
    private static let ada2012 = 0x2F
}
