// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What `tweak-dump --format a2l` says of compiled programs, in the eyes of the running program and of another reader.
@Suite struct `Calibration tools and programs` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let source = #"""
        #include <fbtweak.h>
        #include <stdio.h>
        #include <unistd.h>
        static int8_t small = -5;
        static volatile double gravity = -9.81;
        static float table[] = {0.25f, 0.5f, 0.75f};
        static uint64_t zero;
        static fbtweak_color ink = {1, 2, 3, 255};
        FBTweakVariable(small, "Motor", "Variables", "Small", -100, 100)
        FBTweakVariable(gravity, "Motor", "Variables", "Gravity", -50, 0, FBTweakUnit("m/s²"))
        FBTweakVariable(table, "Motor", "Variables", "Point")
        FBTweakVariable(zero, "Motor", "Variables", "Zero")
        FBTweakVariable(ink, "Motor", "Variables", "Ink")
        static void nothing(void) {}
        static int speed(void) { return FBTweakValue("Motor", "Control", "Max speed", 1000, 0, 8000); }
        int main(void) {
          FBTweakAction("Motor", "Control", "Stop", nothing);
          for (int i = 0;; i++) {
            FBTweakMonitor("Motor", "State", "Speed", 1234.5f, 0, 8000, FBTweakUnit("rpm"), FBTweakPrecision(1));
            FBTweakMonitor("Motor", "State", "Phase", 2, FBTweakChoices("idle", "starting", "running"));
            FBTweakMonitor("Motor", "State", "Ready", (bool)true);
            if (i > 0) puts(FBTweakValue("Motor", "Control", "Title", "ready"));
            fflush(stdout);
            usleep(FBTweakValue("Motor", "Control", "Fast", true) ? 1000 : 2000);
            if (FBTweakValue("Motor", "Control", "Gain", 2.5, 0, 5, FBTweakStep(0.1)) *
                    FBTweakValue("Motor", "Control", "Mode", 7, FBTweakChoices((3, "slow"), (7, "fast"))) *
                    FBTweakValue("Motor", "Control", "Max speed", 1000, 0, 8000) * speed() *
                    FBTweakValue("Motor", "Control", "Big", UINT64_C(18000000000000000000)) < 0)
              return 0;
          }
        }

        """#

    /// A characteristic or measurement.
    private struct Object {
        /// The name of the tweak.
        let tweak: String
        let isCharacteristic, isBool: Bool
        let type: String
        let address: UInt64
    }

    private func objects(of text: String) throws -> [Object] {
        let form = /\/begin (CHARACTERISTIC|MEASUREMENT) \S+ "((?:[^"\\]|\\.)*)" (.*) \/end \1/
        return try text.matches(of: form).map { match in
            let words = match.3.split(separator: " ").map(String.init)
            let isCharacteristic = match.1 == "CHARACTERISTIC"
            let key = isCharacteristic ? "VALUE" : "ECU_ADDRESS"
            let index = try #require(words.firstIndex(of: key))
            let address = try #require(UInt64(words[index + 1].dropFirst(2), radix: 16))
            return Object(
                tweak: String(match.2), isCharacteristic: isCharacteristic, isBool: words.contains("Bool"),
                type: isCharacteristic ? String(words[2].dropFirst("Value_".count)) : words[0],
                address: address)
        }
    }

    /// The value of an object in a running program.
    private func value(of object: Object, in memory: CInt, bias: UInt64) throws -> DumpedJSON.Value {
        var word: UInt64 = 0
        // At the end of the memory there may be fewer bytes.
        try #require(pread(memory, &word, 8, off_t(object.address + bias)) > 0)
        if object.isBool { return .bool(UInt8(truncatingIfNeeded: word) != 0) }
        let number: Double? =
            switch object.type {
            case "UBYTE": Double(UInt8(truncatingIfNeeded: word))
            case "SBYTE": Double(Int8(truncatingIfNeeded: word))
            case "SLONG": Double(Int32(truncatingIfNeeded: word))
            case "A_UINT64": Double(word)
            case "FLOAT32_IEEE": Double(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
            case "FLOAT64_IEEE": Double(bitPattern: word)
            default: nil
            }
        return .number(try #require(number, "\(object.type)"))
    }

    /// The current values of the tweaks of a process, by their names.
    private func values(of process: Int32) throws -> [String: DumpedJSON.Value] {
        struct Dump: Decodable {
            struct Image: Decodable { let tweaks: [Tweak] }
            struct Tweak: Decodable {
                let tweak, type: String
                let value: DumpedJSON.Value?
            }
            let images: [Image]
        }
        let result = try dump(["--format", "json", "--pid", "\(process)"], home: home)
        let tweaks = try JSONDecoder().decode(Dump.self, from: Data(result.output.utf8)).images.flatMap(
            \.tweaks)
        let described = tweaks.filter { !["string", "color", "action"].contains($0.type) }
        return Dictionary(described.map { ($0.tweak, $0.value ?? .nothing) }) { first, _ in first }
    }

    @Test(arguments: [[], ["-no-pie"]])
    func `The addresses are those of the values in the running program`(flags: [String]) throws {
        let program = try BareProgram(named: "motor", Self.source, compiling: flags)
        try program.start()
        let result = try dump(["--format", "a2l", program.path], home: home)
        #expect(result.status == 0)
        let memory = open("/proc/\(program.pid)/mem", O_RDONLY)
        defer { close(memory) }
        let maps = try String(contentsOfFile: "/proc/\(program.pid)/maps", encoding: .utf8)
        let start = try #require(maps.split(separator: "\n").first { $0.hasSuffix(program.path) })
        let bias = flags.isEmpty ? try #require(UInt64(start.prefix { $0 != "-" }, radix: 16)) : 0
        let values = try values(of: program.pid)
        let objects = try objects(of: result.output)
        for object in objects {
            #expect(
                try value(of: object, in: memory, bias: bias) == values[object.tweak], "\(object.tweak)")
        }
        #expect(Set(objects.map(\.tweak)) == Set(values.keys))
        #expect(values["Motor/State/Speed"] == .number(1234.5))
        #expect(objects.filter { !$0.isCharacteristic }.count == 3)
        #expect(objects.filter { $0.tweak == "Motor/Control/Max speed" }.count == 2)
    }

    @Test func `Another reader finds no mistake`() throws {
        let main = try home.write("motor.c", Self.source)
        let library = try home.write(
            "lib.c",
            """
            #include <fbtweak.h>
            int lib(void);
            int lib(void) { return FBTweakValue("Über-Motor", "2/3", "a\\033[2J \\"b\\" c\\\\", 3, FBTweakDescription("line\\nline")); }

            """)
        try Compiler.gcc.compile(
            [library], to: home("lib.so.1"), ["-DDEBUG", "-shared", "-fPIC"], home: home)
        try Compiler.gcc.compile(
            [main], to: home("motor"),
            ["-DDEBUG", "-Wl,--no-as-needed", "-Wl,-rpath,\(home.path)", "-Wl,--build-id", home("lib.so.1")],
            home: home)
        let bare = try home.write("bare.c", BareProgram.source)
        try Compiler.gcc.compile([bare], to: home("bare"), ["-DDEBUG", "-std=gnu11"], home: home)
        for (number, arguments) in [
            ["--libraries", home("motor")], [home("motor")], [home("lib.so.1")],
            [home("bare")], ["/bin/true"], ["--name", "nothing", home("motor")],
            ["--recursive", home.path],
        ].enumerated() {
            let text = try dump(["--format", "a2l"] + arguments, home: home).output
            #expect(
                text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
            let file = try home.write("\(number).a2l", text)
            let judge = "\(Locations.package)/.build/a2l/bin/a2ltool"
            let result = try run(judge, ["--check", "--strict", file], home: home)
            #expect(
                result.status == 0 && result.output.contains("No problems found"),
                "\(arguments): \(result.output)")
        }
        let text = try dump(["--format", "a2l", "--libraries", home("motor")], home: home).output
        #expect(text.components(separatedBy: "/begin MODULE ").count == 3)
        let id = try #require(dumpedJSON([home("motor")]).images[0].buildID)
        #expect(text.contains(#"EPK "\#(id)""#))
    }

    @Test func `A tweak that A2L cannot describe is left out with a warning`() throws {
        let main = try home.write("motor.c", Self.source)
        try Compiler.gcc.compile([main], to: home("motor"), ["-DDEBUG"], home: home)
        let result = try dump(["--format", "a2l", home("motor")], home: home)
        #expect(result.status == 0)
        let place = "\(home("motor.c")):"
        #expect(
            result.error.replacing(place, with: "").replacing(home("motor"), with: "motor") == """
                tweak-dump: warning: motor: Motor/Control/Stop at 17 is omitted: A2L has no type for an action
                tweak-dump: warning: motor: Motor/Control/Title at 22 is omitted: A2L has no type for a string
                tweak-dump: warning: motor: Motor/Variables/Ink at 13 is omitted: A2L has no type for a color

                """)
    }

    private func compiled(_ expression: String, _ flags: String...) throws -> String {
        let source = try home.write(
            "part.c", "#include <fbtweak.h>\nint part(void);\nint part(void) { return \(expression); }\n")
        try Compiler.gcc.compile([source], to: home("part"), ["-DDEBUG", "-fPIC"] + flags, home: home)
        return home("part")
    }

    @Test func `Tweaks beyond 32 bits are left out`() throws {
        let flags = ["-shared", "-nostdlib", "-Wl,-Ttext-segment=0x100000000"]
        let path = try compiled(#"FBTweakValue("A", "B", "C", 3)"#, flags[0], flags[1], flags[2])
        let result = try dump(["--format", "a2l", path], home: home)
        #expect(result.status == 0 && !result.output.contains("CHARACTERISTIC"))
        #expect(result.error.contains("A/B/C") && result.error.contains("more than the 32 bits"))
    }

    @Test func `Tweaks whose names are the same in A2L are an error that names both`() throws {
        let path = try compiled(
            #"FBTweakValue("A", "B", "a b", 3) + FBTweakValue("A", "B", "a_b", 4)"#, "-shared")
        let result = try dump(["--format", "a2l", path], home: home)
        #expect(result.status == 65 && result.output == "")
        #expect(
            result.error
                == "tweak-dump: \(path): A/B/a b and A/B/a_b would both be A.B.a_b in A2L; rename one\n")
        let other = try dump(["--format", "a2l", "--name", "A/B/a b", path], home: home)
        #expect(other.status == 0 && other.output.contains(#"A.B.a_b "A/B/a b""#))
    }

    @Test func `An object file is an error, and memory a wrong command line`() throws {
        let path = try compiled(#"FBTweakValue("A", "B", "C", 3)"#, "-c")
        let result = try dump(["--format", "a2l", path], home: home)
        #expect(result.status == 65 && result.output == "")
        #expect(
            result.error
                == "tweak-dump: \(path): an object file has no addresses yet; name the linked file\n")
        #expect(try dump(["--format", "a2l", "--pid", "1"], home: home).status == 64)
    }
}
