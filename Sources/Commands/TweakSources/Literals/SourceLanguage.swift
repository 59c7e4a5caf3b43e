// SPDX-License-Identifier: BSD-3-Clause
internal import TweakSystem

/// The language of a source, which decides how its literals are written.
package enum SourceLanguage: Sendable {
    /// C or C++.
    case c
    case swift

    /// The language of a file, by its name.
    package init(path: String) { self = path.lowercased().hasSuffix(".swift") ? .swift : .c }

    /// The ends of the names of sources and headers, in lower case. Parts of sources that others include are called `.inc`,
    /// `.inl`, `.ipp`, `.tcc`, `.tpp` or `.def`.
    private static let endings: Set<Substring> = [
        "c", "h", "cc", "cp", "cpp", "cxx", "c++", "hh", "hp", "hpp", "hxx", "h++", "cppm", "ixx", "inc",
        "inl", "ipp",
        "tcc", "tpp", "txx", "def", "swift",
    ]

    /// Returns whether a file has the name of a source in one of the languages.
    static func isSource(_ path: String) -> Bool {
        let name = lastComponent(of: path)
        guard let point = name.lastIndex(of: "."), point != name.startIndex else { return false }
        return endings.contains(Substring(name[point...].dropFirst().lowercased()))
    }
}

extension Unicode.Scalar {
    /// Whether a reader of a source may not see it, or may see the text around it in another order: control characters of
    /// both sets, line separators, and format characters except those that join others in emoji and in Indic and Arabic
    /// script.
    var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}
