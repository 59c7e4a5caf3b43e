// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

extension SourceBaking {
    /// The changes as YAML for `clang-apply-replacements`.
    ///
    /// Source of the format: `clang/Tooling/ReplacementsYaml.h` of LLVM.
    package var replacements: String {
        let entries = changes.map { change in
            """
              - FilePath:        \(quoted(change.path))
                Offset:          \(change.range.lowerBound)
                Length:          \(change.range.count)
                ReplacementText: \(quoted(String(decoding: change.newText, as: UTF8.self)))
            """
        }
        let list =
            entries.isEmpty ? "Replacements: []" : (["Replacements:"] + entries).joined(separator: "\n")
        return "---\nMainSourceFile:  ''\n\(list)\n...\n"
    }

    /// A scalar in quotation marks.
    private func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\" + String(scalar)
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            case let scalar where scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value:
                "\\x" + UInt8(scalar.value).digits(2, radix: 16)
            default: String(scalar)
            }
        }
        return "\"" + escaped.joined() + "\""
    }
}
