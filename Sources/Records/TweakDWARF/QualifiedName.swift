// SPDX-License-Identifier: BSD-3-Clause
internal import CLibDW
internal import Glibc

/// Of the Swift runtime.
@_silgen_name("swift_demangle")
private func demangle(
    _ name: UnsafePointer<CChar>, _ count: Int, _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

/// The name of an entry with those of the scopes around it, such as `game::Physics::gravity`.
struct QualifiedName {
    let text: String
    static let unnamedNamespace = "(anonymous namespace)"

    /// The tags of scopes that are part of a name.
    static let scopes: Set<Int> = [
        Int(DW_TAG_namespace), Int(DW_TAG_module), Int(DW_TAG_structure_type), Int(DW_TAG_class_type),
        Int(DW_TAG_union_type), Int(DW_TAG_subprogram), Int(DW_TAG_enumeration_type),
    ]

    /// - Parameter depth: How many functions contain the entry.
    /// - Returns: `nil` if the entry has no name.
    init?(of entry: DebugEntry, depth: Int = 0) {
        // A definition outside its scope has the name and scope of its declaration.
        var declared = entry
        for _ in 0..<8 {
            guard
                let next = declared.reference(Int(DW_AT_specification))
                    ?? declared.reference(Int(DW_AT_abstract_origin))
            else { break }
            declared = next
        }
        guard let own = declared.name else { return nil }
        var names = [own]
        // The function around a static variable may be defined outside its scope, too.
        for scope in declared.scopes.dropFirst() where Self.scopes.contains(scope.tag) {
            if scope.tag == Int(DW_TAG_subprogram), scope.id != declared.id {
                // clang omits the names of functions whose calls are all inlined.
                if depth < 16, let function = QualifiedName(of: scope, depth: depth + 1)?.text {
                    names.append(function)
                }
                break
            }
            names.append(Self.name(of: scope))
        }
        text = names.reversed().joined(separator: "::")
    }

    /// The name of a Swift variable, such as `Module.Tuning.gain`, from its linkage name.
    ///
    /// - Returns: `nil` if it is not one.
    init?(swift symbol: String) {
        guard let pointer = demangle(symbol, symbol.utf8.count, nil, nil, 0) else { return nil }
        defer { free(pointer) }
        // `static Module.(Tuning in _8A1B…).gain : Swift.Double`
        let whole = DebugEntry.text(pointer)
        var name = whole[..<(whole.firstRange(of: " : ")?.lowerBound ?? whole.endIndex)]
        name = name.trimmingPrefix("static ")
        let words = name.split(separator: ".").map {
            $0.hasPrefix("(") ? $0.dropFirst().prefix { $0 != " " } : $0
        }
        guard !words.isEmpty else { return nil }
        text = words.joined(separator: ".")
    }

    static func name(of scope: DebugEntry) -> String {
        // The name of a class may be in another unit.
        scope.name ?? scope.reference(Int(DW_AT_signature))?.name
            ?? (scope.tag == Int(DW_TAG_namespace) ? unnamedNamespace : "{…}")
    }
}
