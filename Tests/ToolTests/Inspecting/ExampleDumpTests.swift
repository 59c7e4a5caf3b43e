// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@Suite struct `The tweaks of the example` {
    private static let example = Locations.package + "/tools/example"

    static let program: Set<DumpedJSON.Tweak> = [
        tweak("Scene", "Label", "string", .text("spring")),
        tweak("Scene", "Time step", "double", .number(0.004), 0.0001, 0.05, scale: "log"),
        tweak("Drawing", "Frames per second", "double", .number(30), 1, 120),
        tweak("Drawing", "Width", "int64", .number(60), 20, 200),
        tweak("Drawing", "Glyph", "string", .text("●")),
        tweak("Drawing", "Trail", "bool", .bool(true)),
    ]
    static let library: Set<DumpedJSON.Tweak> = [
        tweak("Physics", "Stiffness", "double", .number(120), 1, 1000, pair: "Damping"),
        tweak("Physics", "Mass", "double", .number(1), 0.1, 100),
        tweak("Physics", "Damped", "bool", .bool(true)),
        tweak("Physics", "Damping", "double", .number(1.5), 0, 50),
    ]

    private static func tweak(
        _ collection: String, _ name: String, _ type: String, _ value: DumpedJSON.Value,
        _ minimum: Double? = nil, _ maximum: Double? = nil, scale: String? = nil, pair: String? = nil
    ) -> DumpedJSON.Tweak {
        DumpedJSON.Tweak(
            category: "Spring", collection: collection, name: name, type: type, default: value,
            minimum: minimum.map { .number($0) }, maximum: maximum.map { .number($0) }, scale: scale,
            pair: pair)
    }

    static func withoutLocations(_ tweaks: [DumpedJSON.Tweak]) -> Set<DumpedJSON.Tweak> {
        Set(
            tweaks.map { tweak in
                var tweak = tweak
                tweak.location = nil
                return tweak
            })
    }

    @Test func `Those of C and Swift, of executable and library, are all shown`() throws {
        let paths = try ["spring", "libSpringPhysics.so"].map(Example.path)
        let dump = try dumpedJSON(paths)
        #expect(dump.images.map(\.path) == paths)
        #expect(dump.images.map { Self.withoutLocations($0.tweaks) } == [Self.program, Self.library])
        #expect(dump.images.map(\.tweaks.count) == [6, 4])
    }

    @Test func `The library is found through the executable`() throws {
        let dump = try dumpedJSON(["--libraries", Example.path("spring")])
        #expect(dump.images.map { Self.withoutLocations($0.tweaks) } == [Self.program, Self.library])
    }

    @Test func `Each says in which file and line it is`() throws {
        let tweaks = try dumpedJSON([Example.path("spring")]).images.flatMap(\.tweaks)
        let files = Set(tweaks.compactMap { $0.location?.split(separator: "/").last })
        #expect(files.contains { $0.hasPrefix("Spring.swift:") })
        #expect(files.contains { $0.hasPrefix("spring_scene.c:") })
        #expect(tweaks.allSatisfy { $0.location?.split(separator: ":").last.flatMap { Int($0) } ?? 0 > 0 })
    }

    @Test func `Both compilers leave the same in the objects of the C sources`() throws {
        let home = try TemporaryDirectory()
        let physics = Self.example + "/SpringPhysics/Sources/SpringPhysics"
        let sources = [physics + "/spring_physics.c", Self.example + "/Sources/SpringScene/spring_scene.c"]
        let includes = ["-I", physics + "/include", "-I", Self.example + "/Sources/SpringScene/include"]
        var dumps: [[Set<DumpedJSON.Tweak>]] = []
        for compiler in Compiler.allCases {
            let objects = try sources.enumerated().map { index, source in
                let object = home("\(compiler)-\(index).o")
                try compiler.compile(
                    [source], to: object, ["-c", "-std=c11", "-DDEBUG"] + includes, home: home)
                return object
            }
            dumps.append(try dumpedJSON(objects).images.map { Set($0.tweaks) })
        }
        #expect(dumps[0] == dumps[1])
        #expect(dumps[0].map(\.count) == [4, 2])
        #expect(Self.withoutLocations(Array(dumps[0][0])) == Self.library)
    }
}
