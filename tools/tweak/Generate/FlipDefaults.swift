// SPDX-License-Identifier: BSD-3-Clause
import CLibYAML
import CommandSupport
import Glibc

/// The options in a file `.flip.yml` in the working directory, as FlipTheSwitch reads it.
struct FlipDefaults {
    private(set) var input, environment, plistOutput, settingsOutput, categoryOutput: String?

    private static let path = ".flip.yml"
    /// The most bytes of the file. The parser's time grows with the square of open brackets.
    private static let largestSize = 1 << 14
    private static var options: KeyValuePairs<String, WritableKeyPath<Self, String?>> {
        [
            "input": \.input, "environment": \.environment, "plist_output": \.plistOutput,
            "settings_output": \.settingsOutput, "category_output": \.categoryOutput,
        ]
    }

    /// Reads the file; a missing file has no options.
    static func inWorkingDirectory() throws(Failure) -> FlipDefaults {
        guard access(path, F_OK) == 0 else { return FlipDefaults() }
        return try FlipDefaults(yaml: readInput(path, isNamed: false))
    }

    private init() {}

    private init(yaml: [UInt8]) throws(Failure) {
        guard yaml.count <= Self.largestSize else {
            throw Self.failure("it has \(yaml.count) bytes, and at most \(Self.largestSize) are read")
        }
        // The parser also reads UTF-16.
        guard String(validating: yaml, as: UTF8.self) != nil else { throw Self.failure("it is not UTF-8") }
        var (parser, document) = (yaml_parser_t(), yaml_document_t())
        guard yaml_parser_initialize(&parser) == 1 else { throw Self.failure("out of memory") }
        defer { yaml_parser_delete(&parser) }
        let isRead = yaml.withUnsafeBufferPointer { bytes in
            yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
            return yaml_parser_load(&parser, &document) == 1
        }
        guard isRead else {
            let problem = parser.problem.map { String(cString: $0) } ?? "out of memory"
            throw Self.failure("it is not YAML: line \(parser.problem_mark.line + 1): \(problem)")
        }
        defer { yaml_document_delete(&document) }
        guard let root = yaml_document_get_root_node(&document) else { return }
        guard root.pointee.type == YAML_MAPPING_NODE else {
            throw Self.failure("names and values are expected")
        }
        let pairs = root.pointee.data.mapping.pairs
        for pair in UnsafeBufferPointer(start: pairs.start, count: pairs.top - pairs.start) {
            let name = Self.text(of: pair.key, in: &document)
            guard let option = Self.options.first(where: { $0.key == name })?.value else {
                let line = yaml_document_get_node(&document, pair.key).pointee.start_mark.line + 1
                printMessage(
                    "warning: \(Self.path): \"\(name ?? "…")\" in line \(line) is unknown; the known names are "
                        + Self.options.map(\.key).joined(separator: ", "))
                continue
            }
            guard self[keyPath: option] == nil else { throw Self.failure("\(name ?? ""): it is repeated") }
            guard let text = Self.text(of: pair.value, in: &document), !text.isEmpty else {
                throw Self.failure("\(name ?? ""): a text is expected")
            }
            self[keyPath: option] = text
        }
    }

    /// The text of a scalar node.
    private static func text(of node: Int32, in document: inout yaml_document_t) -> String? {
        guard let node = yaml_document_get_node(&document, node), node.pointee.type == YAML_SCALAR_NODE else {
            return nil
        }
        let scalar = node.pointee.data.scalar
        return String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
    }

    private static func failure(_ reason: String) -> Failure { Failure("\(path): \(reason)", .invalid) }
}
