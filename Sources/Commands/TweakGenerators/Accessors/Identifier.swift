// SPDX-License-Identifier: BSD-3-Clause
/// Identifiers in code, made from names in files.
enum Identifier {
    /// The words of a name in camel case: `HTTPProxy_v2` becomes `HTTPProxyV2`, `a-b` becomes `AB`. Capitals are kept.
    ///
    /// For the middle of an identifier: the result may begin with a digit. It is empty if there is no letter or digit.
    static func upperCamelCase(_ name: String) -> String {
        words(name).map(capitalized).joined()
    }

    /// The words in camel case with a small first letter, and a prefix before a digit, so that it can be an identifier.
    static func lowerCamelCase(_ name: String) -> String {
        let words = words(name)
        guard let first = words.first, let scalar = first.unicodeScalars.first else { return "" }
        return (isDigit(scalar) ? "_" : "") + starting(first, with: scalar.properties.lowercaseMapping)
            + words.dropFirst().map(capitalized).joined()
    }

    /// Returns whether a text is an identifier in C and Swift, or a keyword.
    static func isValid(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, !isDigit(first), text != "_" else { return false }
        return text.unicodeScalars.allSatisfy { isPart($0) || $0 == "_" }
    }

    /// An identifier as the name of a Swift property.
    static func swift(_ identifier: String) -> String {
        swiftKeywords.contains(identifier) ? "`\(identifier)`" : identifier
    }

    private static func words(_ name: String) -> [String] {
        var words = [""]
        for scalar in name.unicodeScalars {
            if isPart(scalar) {
                words[words.count - 1].unicodeScalars.append(scalar)
            } else if scalar.properties.isXIDContinue, !scalar.isASCII {
                // A combining mark belongs to the letter before it.
                words[words.count - 1] += "u\(String(scalar.value, radix: 16, uppercase: true))"
            } else if words.last != "" {
                words.append("")
            }
        }
        return words.filter { !$0.isEmpty }
    }

    private static func capitalized(_ word: String) -> String {
        starting(word, with: word.unicodeScalars.first?.properties.titlecaseMapping ?? "")
    }

    /// A word with another first letter, unless that letter cannot be part of an identifier.
    private static func starting(_ word: String, with letter: String) -> String {
        letter.unicodeScalars.allSatisfy(isPart) ? letter + String(word.unicodeScalars.dropFirst()) : word
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// Letters and ASCII digits. Of other characters, only those that compilers accept and normalization keeps: GCC
    /// warns of identifiers that are not in NFC.
    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.properties.isAlphabetic || isDigit(scalar) }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
            return scalar.properties.isXIDStart && !scalar.properties.isFullCompositionExclusion
                && !(0x1100...0x11FF).contains(scalar.value)
        default: return false
        }
    }

    private static let swiftKeywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "await", "break", "case", "catch", "class",
        "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let",
        "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
        "self",
        "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias",
        "var",
        "where", "while",
    ]
}
