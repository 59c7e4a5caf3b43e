// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// The name of a variable as typed: `gravity`, `Physics::gravity`, `physics.c:gravity`, or `'physics.c'::gravity` as in
/// gdb.
struct VariableName {
    /// The last components of the path of the source file.
    private let file: [Substring]
    private let line: Int?
    private let name: String

    /// - Returns: `nil` for an empty name.
    init?(_ text: Substring) {
        var (file, rest, line) = (Substring(), text, Int?.none)
        if text.first == "'", let end = text.dropFirst().firstIndex(of: "'") {
            file = text.dropFirst()[..<end]
            rest = text[end...].dropFirst().trimmingPrefix("::")
        } else if let end = Self.colon(in: text) {
            file = text[..<end]
            rest = text[end...].dropFirst()
            if let end = Self.colon(in: rest), let number = Int(rest[..<end]) {
                line = number
                rest = rest[end...].dropFirst()
            }
        }
        guard !rest.isEmpty else { return nil }
        self.file = file.split(separator: "/")
        self.line = line
        name = Self.plain(String(rest.trimmingPrefix("::")))
    }

    /// The first single colon.
    private static func colon(in text: Substring) -> Substring.Index? {
        var index = text.startIndex
        while index < text.endIndex {
            guard text[index] == ":" else {
                index = text.index(after: index)
                continue
            }
            let next = text.index(after: index)
            guard next < text.endIndex, text[next] == ":" else { return index }
            index = text.index(after: next)
        }
        return nil
    }

    /// The name without unnamed namespaces.
    private static func plain(_ name: String) -> String {
        name.contains("(") ? name.replacing(QualifiedName.unnamedNamespace + "::", with: "") : name
    }

    /// Returns whether this is the whole name of a variable.
    func isWhole(_ variable: ProgramVariable) -> Bool {
        isInFile(variable) && Self.plain(variable.name) == name
    }

    /// Returns whether this is the name of a variable without its outer scopes.
    func isEnd(of variable: ProgramVariable) -> Bool {
        let whole = Self.plain(variable.name)
        return isInFile(variable) && (whole.hasSuffix("::" + name) || whole.hasSuffix("." + name))
    }

    private func isInFile(_ variable: ProgramVariable) -> Bool {
        guard !file.isEmpty else { return true }
        let declared = variable.entry.file ?? ""
        return [variable.unit, declared].contains { $0.split(separator: "/").suffix(file.count) == file[...] }
            && (line == nil || line == variable.entry.line)
    }
}

/// An error in the name of a variable.
package enum VariableNameError: Error, Hashable {
    case unknown(String, nearest: [String])
    case ambiguous(String, [String])
    case malformed(String)
    case noMember(String, String, members: [String])
    /// The variable, or the part of one, has no members or elements.
    case noParts(String, String)
    /// An array of several dimensions has an index for each.
    case indices(String, String)
    case index(String, Int64, String)
}

extension VariableNameError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknown(let name, let nearest):
            "\(name): no such global or static variable" + didYouMean(nearest)
        case .ambiguous(let name, let names):
            "\(name): \(names.count) variables match; give more of the name"
        case .malformed(let name): "\(name): a part is named as in player.speed or table[3].weight"
        case .noMember(let whole, let name, let members):
            "\(whole): it has no member \(name)" + didYouMean(members.nearest(to: name))
        case .noParts(let name, let type): "\(name): it has no parts, its type is \(type)"
        case .indices(let name, let type):
            "\(name): its type is \(type), so it needs an index for each dimension"
        case .index(let name, let index, let type): "\(name): it has no element \(index), its type is \(type)"
        }
    }
}
