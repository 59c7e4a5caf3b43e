// SPDX-License-Identifier: BSD-3-Clause
package import TweakRecords

/// A property list to write, with the types that occur in these files. Names are sorted by their bytes.
package enum WrittenPropertyList: Sendable {
    case flag(Bool)
    case text(String)
    case array([WrittenPropertyList])
    case dictionary([ByteText: WrittenPropertyList])

    /// The list as XML, with a newline at the end.
    package var xml: [UInt8] {
        var xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        write(to: &xml, indentation: "")
        xml += "</plist>\n"
        return Array(xml.utf8)
    }

    private func write(to xml: inout String, indentation: String) {
        switch self {
        case .flag(let flag): xml += "\(indentation)<\(flag)/>\n"
        case .text(let text): xml += "\(indentation)<string>\(xmlEscaped(text))</string>\n"
        case .array(let elements) where elements.isEmpty: xml += "\(indentation)<array/>\n"
        case .array(let elements):
            xml += "\(indentation)<array>\n"
            for element in elements { element.write(to: &xml, indentation: indentation + "\t") }
            xml += "\(indentation)</array>\n"
        case .dictionary(let members) where members.isEmpty: xml += "\(indentation)<dict/>\n"
        case .dictionary(let members):
            xml += "\(indentation)<dict>\n"
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                xml += "\(indentation)\t<key>\(xmlEscaped(name.text))</key>\n"
                value.write(to: &xml, indentation: indentation + "\t")
            }
            xml += "\(indentation)</dict>\n"
        }
    }
}

/// Text escaped for XML. Control characters that XML lacks become spaces.
private func xmlEscaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": escaped += "&amp;"
        case "<": escaped += "&lt;"
        case ">": escaped += "&gt;"
        case "\t", "\n", "\r", "\u{20}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"...:
            escaped.unicodeScalars.append(scalar)
        default: escaped += " "
        }
    }
    return escaped
}
