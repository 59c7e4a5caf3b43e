// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Mutated debug information` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let source = """
        enum mode { BACK = -2, STOP, FAST = 70000 };
        struct part { float weight; unsigned flag : 3; union { int u; float v; }; struct part *next; };
        double gravity = 9.81;
        static volatile int level = 3;
        struct part table[4];
        static _Thread_local int each;
        const int fixed = 3;
        _Bool on = 1;
        enum mode mode = STOP;
        long double wide;
        int cube[2][3][4];
        const char *text = "text";
        static int work(int c) { static int calls = 7; return calls += c; }
        int main(int c, char **v) {
          gravity += c;
          each++;
          on = c;
          mode = c;
          table[c & 3].u = c;
          cube[1][c & 1][2]++;
          return work(c) + level + each;
        }

        """

    private static let builds: [(Compiler, [String])] = [
        (.gcc, ["-O0", "-gdwarf-5"]), (.gcc, ["-O2", "-gdwarf-4", "-fdebug-types-section"]),
        (.gcc, ["-O0", "-gdwarf-2"]), (.gcc, ["-O2", "-gdwarf-5", "-flto"]),
        (.gcc, ["-O1", "-gdwarf-5", "-gz=zlib"]), (.clang, ["-O2", "-gdwarf-5"]),
        (.clang, ["-O0", "-gdwarf-4"]), (.gcc, ["-O2", "-gdwarf-5", "-gdwarf64"]),
    ]

    /// 100,000 in the long form, by what people install, each in a second and with 200 MB of memory.
    @Test func `is shown or refused`() throws {
        var random = SeededGenerator(seed: 20_261_125)
        let count = isLong ? 12_500 : 10
        for (index, (compiler, flags)) in Self.builds.enumerated() {
            let path = home("original-\(index)")
            try compiler.compile([home.write("part.c", Self.source)], to: path, ["-g"] + flags, home: home)
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            let regions = try regions(of: path, bytes)
            for batch in stride(from: 0, to: count, by: 100) {
                let size = min(100, count - batch)
                for number in 0..<size {
                    try home.write(
                        "mutated/\(number)", Data(mutated(bytes, in: regions, using: &random)))
                }
                let result = try run(
                    "/bin/sh",
                    [
                        "-c",
                        "ulimit -d 200000; for i in $(seq 0 \(size - 1)); do "
                            + "timeout \(isLong ? 1 : 20) \"$0\" --list mutated/$i >/dev/null 2>&1; echo $?; done",
                        Locations.product("tweak-adopt"),
                    ], home: home, in: home.path)
                let statuses = result.output.split(separator: "\n")
                #expect(statuses.count == size, "\(result.error)")
                for (number, status) in statuses.enumerated() where !["0", "65", "66"].contains(status) {
                    let kept = "/tmp/tweak-adopt-\(index)-\(batch + number)"
                    try? FileManager.default.copyItem(atPath: home("mutated/\(number)"), toPath: kept)
                    Issue.record("status \(status) with \(flags), kept in \(kept)")
                }
            }
        }
    }

    /// The headers, and more often the sections with debug information.
    private func regions(of path: String, _ bytes: [UInt8]) throws -> [Range<Int>] {
        let sections = try run(Locations.program("readelf"), ["-SW", path], home: home).output
        let found = sections.matches(of: #/\] \.debug_\w+ +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) /#)
            .compactMap { match -> Range<Int>? in
                guard let start = Int(match.1, radix: 16), let size = Int(match.2, radix: 16) else {
                    return nil
                }
                return start..<(start + size)
            }
        try #require(found.count >= 4)
        let headers = bytes[40..<48].reversed().reduce(0) { $0 << 8 | Int($1) }
        return found + found + [0..<64, headers..<bytes.count]
    }
}
