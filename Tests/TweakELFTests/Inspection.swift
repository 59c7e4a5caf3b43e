// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import TweakELF
import TweakRecords

/// What an ELF file says about itself.
struct Inspection {
    struct Object {
        var path: String
        var buildID: [UInt8]?
        var hasSectionHeaders: Bool
        var headerSize: Int
        var tweaks: [TweakDeclaration] = []
        var recordErrors: [RecordError] = []
        var unusable: [UnusableSection] = []
    }

    var objects: [Object] = []
    /// What an archive has and is left out.
    var notes: [ELFError] = []
    var names: [String] { objects.flatMap(\.tweaks).map(\.key.name).sorted() }

    init(_ path: String) throws(ELFError) {
        var objects: [Object] = []
        var notes: [ELFError] = []
        try ELFFile(path: path).forEachObject(noting: { notes.append($0) }) { (object) throws(ELFError) in
            // Before anything that finds the headers to be broken.
            let headerSize = object.headerSize
            var found = Object(
                path: object.path, buildID: try object.buildID(), hasSectionHeaders: object.hasSectionHeaders,
                headerSize: headerSize)
            for range in try object.recordRanges(noting: { found.unusable.append($0) }) {
                let section = try object.records(in: range)
                found.tweaks += section.tweaks.map(\.declaration)
                found.recordErrors += section.errors
            }
            objects.append(found)
        }
        self.objects = objects
        self.notes = notes
    }
}

/// Binaries with two tweaks, `One` and `Two`, and the code around them that a test asks for.
struct Binaries {
    let directory: TemporaryDirectory
    let source: String

    init() throws {
        directory = try TemporaryDirectory()
        source = try directory.write(
            "tweaks.c",
            """
            #include <fbtweak.h>
            int sum(void) { return FBTweakValue("A", "B", "One", 1) + FBTweakValue("A", "B", "Two", 2, 0, 9); }
            int main(void) { return sum() != 3; }
            """)
    }

    /// Compiles `tweaks.c` and returns where the binary is.
    func build(_ flags: [String], with compiler: Compiler = .gcc, name: String = "binary") throws -> String {
        let output = directory(name)
        try compiler.compile([source], to: output, ["-DDEBUG"] + flags, home: directory)
        return output
    }

    /// Writes a changed copy of a binary and returns where it is.
    func copy(of path: String, changing change: (inout Data) -> Void) throws -> String {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        change(&data)
        return try directory.write("changed", data)
    }
}

extension Data {
    func number<Number: FixedWidthInteger>(at offset: Int, as _: Number.Type = Number.self) -> Number {
        self[offset..<offset + MemoryLayout<Number>.size].reversed().reduce(0) { $0 << 8 | Number($1) }
    }

    mutating func patch<Number: FixedWidthInteger>(_ offset: Int, _ number: Number) {
        for index in 0..<MemoryLayout<Number>.size {
            self[offset + index] = UInt8(truncatingIfNeeded: number >> Number(8 * index))
        }
    }

    /// Where the section header of the records begins: of the section that is writable data and named `fbtweak`.
    func recordSectionHeader() -> Int? {
        let (table, count, names) = (
            number(at: 40, as: Int.self), number(at: 60, as: UInt16.self), number(at: 62, as: UInt16.self)
        )
        let strings: Int = number(at: table + 64 * Int(names) + 24)
        return (0..<Int(count)).map { table + 64 * $0 }.first { header in
            let name = strings + Int(number(at: header, as: UInt32.self))
            return self[name..<Swift.min(name + 8, self.count)].elementsEqual("fbtweak\0".utf8)
        }
    }
}
