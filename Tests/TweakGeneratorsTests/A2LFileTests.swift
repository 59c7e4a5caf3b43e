// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakFormats
import TweakGenerators
import TweakRecords

@Suite struct `Descriptions for calibration tools` {
    private typealias Cell = A2LFile.Cell

    private static func attributes(_ texts: [String]) -> [TweakDeclaration.Attribute] {
        texts.map { text in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            return .init(key: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
    }

    /// A cell of the tweak `A/B/name`.
    private func cell(
        _ name: String, _ type: TweakType, at address: UInt64? = 0x4010, from low: TweakValue? = nil,
        to high: TweakValue? = nil, step: TweakValue? = nil, choices: [TweakChoice] = [],
        isMonitor: Bool = false, _ texts: String...
    ) -> Cell {
        Cell(
            TweakDeclaration(
                key: TweakKey("A", "B", name), type: type, defaultValue: .nothing, minimum: low,
                maximum: high, step: step, choices: choices, attributes: Self.attributes(texts),
                isMonitor: isMonitor),
            address: address)
    }

    /// The text of a file with one module, and what is left out.
    private func described(_ cells: [Cell]) throws -> (text: String, leftOut: [String]) {
        var file = A2LFile()
        let leftOut = try file.addModule(path: "build/motor", buildID: "c0ffee", byteOrder: .little, cells)
        return (file.text, leftOut.map { "\($0.tweak.key): \($0.reason)" })
    }

    /// The lines with the tweaks and monitors of a module.
    private func objects(_ cells: Cell...) throws -> [String] {
        let (text, leftOut) = try described(cells)
        #expect(leftOut.isEmpty)
        return text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter {
            $0.hasPrefix("/begin CHARACTERISTIC") || $0.hasPrefix("/begin MEASUREMENT")
        }.map(String.init)
    }

    @Test func `Types, limits, units, steps, choices and groups are described`() throws {
        let cells = [
            cell("Gain", .double, from: 0.0, to: 5.0, step: 0.1, "doc=The gain", "unit=1/s", "precision=3"),
            cell("On", .bool, at: 0x4080),
            cell(
                "Mode", .int32, at: 0x40F0, choices: [TweakChoice(1, label: "slow"), TweakChoice(7)],
                "title=How it moves", "read-only"),
            Cell(
                TweakDeclaration(
                    key: TweakKey("A", "State", "Speed"), type: .float, defaultValue: 0.0, minimum: 0.0,
                    maximum: 8000.0, attributes: Self.attributes(["unit=rpm"]), isMonitor: true),
                address: 0x4160),
            Cell(
                TweakDeclaration(
                    key: TweakKey("A", "State", "Phase"), type: .uint8, defaultValue: 0,
                    choices: [TweakChoice(0, label: "idle"), TweakChoice(1, label: "running")],
                    isMonitor: true),
                address: 0x41D0),
            Cell(
                TweakDeclaration(key: TweakKey("Other", "", "X"), type: .int16, defaultValue: 0),
                address: 0x4240),
        ]
        #expect(
            try described(cells).text == #"""
                ASAP2_VERSION 1 71
                /begin PROJECT motor ""
                  /begin MODULE motor "motor"
                    /begin MOD_PAR "" EPK "c0ffee" /end MOD_PAR
                    /begin MOD_COMMON "" BYTE_ORDER MSB_LAST /end MOD_COMMON
                    /begin RECORD_LAYOUT Value_UBYTE FNC_VALUES 1 UBYTE ROW_DIR DIRECT /end RECORD_LAYOUT
                    /begin RECORD_LAYOUT Value_SWORD FNC_VALUES 1 SWORD ROW_DIR DIRECT /end RECORD_LAYOUT
                    /begin RECORD_LAYOUT Value_SLONG FNC_VALUES 1 SLONG ROW_DIR DIRECT /end RECORD_LAYOUT
                    /begin RECORD_LAYOUT Value_FLOAT64_IEEE FNC_VALUES 1 FLOAT64_IEEE ROW_DIR DIRECT /end RECORD_LAYOUT
                    /begin COMPU_METHOD A.B.Mode "" TAB_VERB "%.0" "" COMPU_TAB_REF A.B.Mode /end COMPU_METHOD
                    /begin COMPU_VTAB A.B.Mode "" TAB_VERB 2 1 "slow" 7 "7" /end COMPU_VTAB
                    /begin COMPU_METHOD A.State.Phase "" TAB_VERB "%.0" "" COMPU_TAB_REF A.State.Phase /end COMPU_METHOD
                    /begin COMPU_VTAB A.State.Phase "" TAB_VERB 2 0 "idle" 1 "running" /end COMPU_VTAB
                    /begin COMPU_METHOD Bool "" TAB_VERB "%.0" "" COMPU_TAB_REF Bool /end COMPU_METHOD
                    /begin COMPU_VTAB Bool "" TAB_VERB 2 0 "false" 1 "true" /end COMPU_VTAB
                    /begin CHARACTERISTIC A.B.Gain "A/B/Gain: The gain" VALUE 0x4010 Value_FLOAT64_IEEE 0 NO_COMPU_METHOD 0 5 PHYS_UNIT "1/s" FORMAT "%.3" STEP_SIZE 0.1 /end CHARACTERISTIC
                    /begin CHARACTERISTIC A.B.Mode "A/B/Mode: How it moves" VALUE 0x40f0 Value_SLONG 0 A.B.Mode 1 7 READ_ONLY /end CHARACTERISTIC
                    /begin CHARACTERISTIC A.B.On "A/B/On" VALUE 0x4080 Value_UBYTE 0 Bool 0 1 /end CHARACTERISTIC
                    /begin MEASUREMENT A.State.Phase "A/State/Phase" UBYTE A.State.Phase 0 0 0 1 ECU_ADDRESS 0x41d0 /end MEASUREMENT
                    /begin MEASUREMENT A.State.Speed "A/State/Speed" FLOAT32_IEEE NO_COMPU_METHOD 0 0 0 8000 ECU_ADDRESS 0x4160 PHYS_UNIT "rpm" /end MEASUREMENT
                    /begin CHARACTERISTIC Other._.X "Other//X" VALUE 0x4240 Value_SWORD 0 NO_COMPU_METHOD -32768 32767 /end CHARACTERISTIC
                    /begin GROUP A "A" ROOT
                      /begin SUB_GROUP
                        A.B
                        A.State
                      /end SUB_GROUP
                    /end GROUP
                    /begin GROUP A.B "B"
                      /begin REF_CHARACTERISTIC
                        A.B.Gain
                        A.B.Mode
                        A.B.On
                      /end REF_CHARACTERISTIC
                    /end GROUP
                    /begin GROUP A.State "State"
                      /begin REF_MEASUREMENT
                        A.State.Phase
                        A.State.Speed
                      /end REF_MEASUREMENT
                    /end GROUP
                    /begin GROUP Other "Other" ROOT
                      /begin SUB_GROUP
                        Other._
                      /end SUB_GROUP
                    /end GROUP
                    /begin GROUP Other._ ""
                      /begin REF_CHARACTERISTIC
                        Other._.X
                      /end REF_CHARACTERISTIC
                    /end GROUP
                  /end MODULE
                /end PROJECT

                """#)
    }

    @Test func `Each image is a module with its byte order and its own addresses`() throws {
        var file = A2LFile()
        _ = try file.addModule(path: "/bin/a", buildID: nil, byteOrder: .big, [])
        _ = try file.addModule(
            path: "lib/b.so.1", buildID: "1", byteOrder: .little,
            [cell("X", .int8), cell("Y", .int8, isMonitor: true)])
        #expect(
            file.text == #"""
                ASAP2_VERSION 1 71
                /begin PROJECT a ""
                  /begin MODULE a "a"
                    /begin MOD_COMMON "" BYTE_ORDER MSB_FIRST /end MOD_COMMON
                  /end MODULE
                  /begin MODULE b_so_1 "b.so.1"
                    /begin MOD_PAR "" EPK "1" /end MOD_PAR
                    /begin MOD_COMMON "" BYTE_ORDER MSB_LAST /end MOD_COMMON
                    /begin RECORD_LAYOUT Value_SBYTE FNC_VALUES 1 SBYTE ROW_DIR DIRECT /end RECORD_LAYOUT
                    /begin CHARACTERISTIC A.B.X "A/B/X" VALUE 0x4010 Value_SBYTE 0 NO_COMPU_METHOD -128 127 ECU_ADDRESS_EXTENSION 1 /end CHARACTERISTIC
                    /begin MEASUREMENT A.B.Y "A/B/Y" SBYTE NO_COMPU_METHOD 0 0 -128 127 ECU_ADDRESS 0x4010 ECU_ADDRESS_EXTENSION 1 /end MEASUREMENT
                    /begin GROUP A "A" ROOT
                      /begin SUB_GROUP
                        A.B
                      /end SUB_GROUP
                    /end GROUP
                    /begin GROUP A.B "B"
                      /begin REF_CHARACTERISTIC
                        A.B.X
                      /end REF_CHARACTERISTIC
                      /begin REF_MEASUREMENT
                        A.B.Y
                      /end REF_MEASUREMENT
                    /end GROUP
                  /end MODULE
                /end PROJECT

                """#)
    }

    @Test func `A file without images has an empty module`() {
        let text = """
            ASAP2_VERSION 1 71
            /begin PROJECT tweaks ""
              /begin MODULE tweaks ""
              /end MODULE
            /end PROJECT

            """
        #expect(A2LFile().text == text)
    }

    @Test(arguments: [
        (TweakType.bool, "Value_UBYTE 0 Bool 0 1"), (.int8, "Value_SBYTE 0 NO_COMPU_METHOD -128 127"),
        (.int16, "Value_SWORD 0 NO_COMPU_METHOD -32768 32767"),
        (.int32, "Value_SLONG 0 NO_COMPU_METHOD -2147483648 2147483647"),
        (.int64, "Value_A_INT64 0 NO_COMPU_METHOD -9223372036854775808 9223372036854775807"),
        (.uint8, "Value_UBYTE 0 NO_COMPU_METHOD 0 255"), (.uint16, "Value_UWORD 0 NO_COMPU_METHOD 0 65535"),
        (.uint32, "Value_ULONG 0 NO_COMPU_METHOD 0 4294967295"),
        (.uint64, "Value_A_UINT64 0 NO_COMPU_METHOD 0 18446744073709551615"),
        (.float, "Value_FLOAT32_IEEE 0 NO_COMPU_METHOD -3.4028234663852886e+38 3.4028234663852886e+38"),
        (
            .double,
            "Value_FLOAT64_IEEE 0 NO_COMPU_METHOD -1.7976931348623157e+308 1.7976931348623157e+308"
        ),
    ])
    func `A tweak without limits has those of its type`(type: TweakType, expected: String) throws {
        #expect(
            try objects(cell("X", type)) == [
                #"/begin CHARACTERISTIC A.B.X "A/B/X" VALUE 0x4010 \#(expected) /end CHARACTERISTIC"#
            ])
    }

    @Test(
        arguments: [
            (TweakType.int64, TweakValue.integer(-5), nil, "-5 9223372036854775807"),
            (.double, nil, .double(1e-7), "-1.7976931348623157e+308 1e-07"),
            (
                .double, .double(-.infinity), .double(.infinity),
                "-1.7976931348623157e+308 1.7976931348623157e+308"
            ),
            (.float, .double(3.4028235e38), nil, "3.4028234663852886e+38 3.4028234663852886e+38"),
            (.float, .double(.nan), .double(2), "-3.4028234663852886e+38 2"),
        ] as [(TweakType, TweakValue?, TweakValue?, String)])
    func `Limits are finite and within those of the type`(
        type: TweakType, low: TweakValue?, high: TweakValue?, expected: String
    ) throws {
        let object = try #require(objects(cell("X", type, from: low, to: high)).first)
        #expect(object.contains(" NO_COMPU_METHOD \(expected) /end"))
    }

    @Test func `An optional Bool has a text for no value, and the limits of an optional number exclude it`()
        throws
    {
        let (text, _) = try described([cell("X", .bool, "optional"), cell("Y", .int64, "optional")])
        #expect(text.contains(#"COMPU_VTAB OptionalBool "" TAB_VERB 3 0 "false" 1 "true" 2 "none" /end"#))
        #expect(text.contains("Value_UBYTE 0 OptionalBool 0 2 /end"))
        #expect(text.contains("NO_COMPU_METHOD -9223372036854775807 9223372036854775807 /end"))
    }

    @Test func `Choices have different texts, and each value is there once`() throws {
        let choices = [
            TweakChoice(-1.5, label: "low"), TweakChoice(2.0, label: "low"), TweakChoice(2.0, label: "two"),
        ]
        let text = try described([cell("X", .double, choices: choices)]).text
        #expect(text.contains(#"TAB_VERB 2 -1.5 "-1.5 (low)" 2 "2.0 (low)" /end COMPU_VTAB"#))
        #expect(text.contains("A.B.X -1.5 2 /end CHARACTERISTIC"))
    }

    @Test func `A tweak that takes effect at the next start is read-only`() throws {
        let objects = try objects(cell("X", .uint8, "needs-restart"), cell("X", .uint8, "needs-restart"))
        #expect(objects.count == 1 && objects[0].hasSuffix(" 0 255 READ_ONLY /end CHARACTERISTIC"))
    }

    @Test func `Only a finite step above 0 is written`() throws {
        for step in [0.0, -1.0, .infinity, .nan] {
            let object = try objects(cell("X", .double, step: .double(step)))[0]
            #expect(!object.contains("STEP_SIZE"))
        }
    }

    @Test func `Further cells of a tweak depend on the first in the source, and a monitor has one cell`()
        throws
    {
        #expect(
            try objects(
                cell("X", .uint8, at: 0x20, "at=a.c:2"), cell("X", .uint8, at: 0x10, "at=a.c:1"),
                cell("X", .uint8, at: 0x30, "at=b.c:1"), cell("Y", .uint8, at: 0x50, isMonitor: true),
                cell("Y", .uint8, at: 0x60, isMonitor: true)) == [
                    #"/begin CHARACTERISTIC A.B.X "A/B/X" VALUE 0x10 Value_UBYTE 0 NO_COMPU_METHOD 0 255 /end CHARACTERISTIC"#,
                    #"/begin CHARACTERISTIC A.B.X.cell2 "A/B/X" VALUE 0x20 Value_UBYTE 0 NO_COMPU_METHOD 0 255 /begin DEPENDENT_CHARACTERISTIC "X1" A.B.X /end DEPENDENT_CHARACTERISTIC /end CHARACTERISTIC"#,
                    #"/begin CHARACTERISTIC A.B.X.cell3 "A/B/X" VALUE 0x30 Value_UBYTE 0 NO_COMPU_METHOD 0 255 /begin DEPENDENT_CHARACTERISTIC "X1" A.B.X /end DEPENDENT_CHARACTERISTIC /end CHARACTERISTIC"#,
                    #"/begin MEASUREMENT A.B.Y "A/B/Y" UBYTE NO_COMPU_METHOD 0 0 0 255 ECU_ADDRESS 0x50 /end MEASUREMENT"#,
                ])
    }

    @Test func `All described places are known, with the numbers of their images`() throws {
        var file = A2LFile()
        _ = try file.addModule(path: "a", buildID: nil, byteOrder: .little, [cell("Text", .string)])
        _ = try file.addModule(
            path: "b", buildID: nil, byteOrder: .little,
            [
                cell("X", .uint8, at: 0x20, "at=a.c:2"), cell("X", .uint8, at: 0x10, "at=a.c:1"),
                cell("Y", .uint8, at: 0x50, isMonitor: true), cell("Y", .uint8, at: 0x60, isMonitor: true),
                cell("Z", .uint8, at: nil),
            ])
        #expect(file.objects.map(\.address) == [0x10, 0x20, 0x50])
        #expect(file.objects.map(\.declaration.key.name) == ["X", "X", "Y"])
        #expect(file.objects.allSatisfy { $0.image == 1 })
    }

    @Test func `A tweak that A2L cannot describe is left out with a reason`() throws {
        let long = String(repeating: "a", count: 129)
        let (text, leftOut) = try described([
            cell("Text", .string), cell("Ink", .color), cell("Run", .action),
            cell("High", .uint8, at: 0x1_0000_4010), cell("Elsewhere", .uint8, at: nil), cell(long, .uint8),
            cell("Large", .int64, choices: [TweakChoice(.integer(1 << 53 + 1))]),
            cell("Endless", .double, choices: [TweakChoice(.double(.infinity))]),
            cell("Twice", .uint8), cell("Twice", .int8), cell("Twice", .uint8, at: nil),
        ])
        #expect(
            leftOut == [
                "A/B/Elsewhere: its variable is not in the file",
                "A/B/Endless: A2L has no exact number for its choice inf",
                "A/B/High: its address 0x100004010 has more than the 32 bits that A2L allows",
                "A/B/Ink: A2L has no type for a color",
                "A/B/Large: A2L has no exact number for its choice 9007199254740993",
                "A/B/Run: A2L has no type for an action",
                "A/B/Text: A2L has no type for a string",
                "A/B/Twice: the first declaration differs",
                "A/B/Twice: its variable is not in the file",
                "A/B/\(long): a part of its name has more than the 128 characters that A2L allows",
            ])
        #expect(text.split(separator: "/begin CHARACTERISTIC").count == 2)
    }

    @Test(arguments: [
        ("Stiffness_2", "Stiffness_2"), ("a b/c.d", "a_b_c_d"), ("2nd", "_2nd"), ("", "_"), ("é", "_"),
        ("Point[12]", "Point[12]"), ("3[1]", "_3[1]"), ("a[0][1]", "a_0_[1]"), ("a[]", "a__"),
        ("a[x]", "a_x_"), ("[1]", "_1_"), ("a[1]b", "a_1_b"), ("\"; /end", "____end"), ("🎉", "_"),
    ])
    func `A name has letters, digits, _ and an index`(name: String, expected: String) throws {
        #expect(try objects(cell(name, .uint8))[0].hasPrefix("/begin CHARACTERISTIC A.B.\(expected) \"A/B/"))
    }

    @Test func `Two tweaks, groups or images with one name are an error`() {
        func message(_ keys: TweakKey...) -> String {
            let cells = keys.map {
                Cell(TweakDeclaration(key: $0, type: .bool, defaultValue: true), address: 1)
            }
            let error = #expect(throws: FormatError.self) { try described(cells) }
            return error.map { "\($0)" } ?? ""
        }
        #expect(
            message(TweakKey("A", "B", "a b"), TweakKey("A", "B", "a/b"))
                == "build/motor: A/B/a b and A/B/a%2Fb would both be A.B.a_b in A2L; rename one")
        #expect(
            message(TweakKey("A a", "B", "x"), TweakKey("A_a", "C", "y"))
                == "build/motor: A a and A_a would both be A_a in A2L; rename one")
        #expect(
            message(TweakKey("A", "b-c", "x"), TweakKey("A", "b.c", "y"))
                == "build/motor: A/b-c and A/b.c would both be A.b_c in A2L; rename one")
        var file = A2LFile()
        #expect(throws: FormatError.self) {
            _ = try file.addModule(path: "a/x", buildID: nil, byteOrder: .little, [])
            _ = try file.addModule(path: "b/x", buildID: nil, byteOrder: .little, [])
        }
    }

    @Test func `Texts are escaped and cut, and a file that is not ASCII starts with a mark`() throws {
        let about = "doc=Say \"a\\b\"\n to \u{1B}" + String(repeating: "x", count: 300)
        let (text, _) = try described([cell("X", .uint8, about, "unit=°C")])
        #expect(text.unicodeScalars.first == "\u{FEFF}")
        #expect(text.contains(#" PHYS_UNIT "°C" "#))
        let title = #"A/B/X: Say \"a\\b\" to \\u{1b}"#
        // Of 255 characters, three are points, and three backslashes come on top.
        let count = 252 - (title.count - 4)
        #expect(text.contains(" \"\(title)\(String(repeating: "x", count: count))...\" VALUE "))
        #expect(try described([cell("X", .uint8)]).text.hasPrefix("ASAP2"))
    }
}
