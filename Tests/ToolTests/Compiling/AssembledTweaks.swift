// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport

/// The source of a record for the assembler, for what no language writes and for mistakes that compilers refuse.
struct AssembledTweak {
    var type = "11"
    var kind = 1
    var flags = 0
    /// The default, the minimum, the maximum and the step, as directives such as `.double 1.5`.
    var values: [String] = []
    var name: String
    var text = ""
    var attributes: [String] = []
    /// What is at the end of the record, a directive for each eight bytes.
    var choices: [String] = []

    /// A number of 64 bits, floating-point.
    static func double(_ name: String, _ value: Double, _ attributes: String...) -> AssembledTweak {
        AssembledTweak(values: [".double \(value)"], name: name, attributes: attributes)
    }

    static func integer(
        _ name: String, _ value: Int, _ attributes: String..., choices: [Int] = []
    ) -> AssembledTweak {
        AssembledTweak(
            type: "5", flags: choices.isEmpty ? 0 : 8, values: [".8byte \(value)"], name: name,
            attributes: attributes, choices: choices.map { ".8byte \($0)" })
    }

    static func string(_ name: String, _ text: String, _ attributes: String...) -> AssembledTweak {
        AssembledTweak(type: "12", name: name, text: text, attributes: attributes)
    }

    static func color(_ name: String, _ bytes: String, _ attributes: String...) -> AssembledTweak {
        AssembledTweak(type: "13", values: [".byte \(bytes), 0, 0, 0, 0"], name: name, attributes: attributes)
    }

    static func action(_ name: String, _ attributes: String...) -> AssembledTweak {
        AssembledTweak(type: "14", kind: 2, values: [".8byte 1"], name: name, attributes: attributes)
    }

    func limits(_ minimum: String, _ maximum: String) -> AssembledTweak {
        var tweak = self
        tweak.flags = 3
        tweak.values += [minimum, maximum]
        return tweak
    }

    fileprivate var source: String {
        let fields = values.prefix(1) + values + Array(repeating: ".8byte 0", count: 5)
        let texts = ["Test", "Values", name, text] + attributes + [""]
        return """
            0: .4byte 1f - 0b
            .byte 1, \(kind), \(type), \(flags)
            \(fields.prefix(5).joined(separator: "\n"))
            \(texts.map { ".asciz \"\($0)\"" }.joined(separator: "\n"))
            .balign 8
            \(choices.joined(separator: "\n"))
            1:

            """
    }

    /// Makes an object file of tweaks.
    static func object(
        _ tweaks: [AssembledTweak], name: String = "tweaks", home: TemporaryDirectory
    ) throws -> String {
        let section = ".section fbtweak, \"aw\", %progbits\n.balign 8\n"
        let source = try home.write("\(name).s", section + tweaks.map(\.source).joined())
        let object = home("\(name).o")
        try Compiler.gcc.compile([source], to: object, ["-c"], home: home)
        return object
    }
}
