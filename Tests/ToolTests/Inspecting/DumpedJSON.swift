// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport

/// What `tweak-dump --format json` prints, as a script would read it.
struct DumpedJSON: Decodable, Equatable {
    struct Image: Decodable, Equatable {
        var path: String
        var architecture: String
        var buildID: String?
        var tweaks: [Tweak]
    }

    struct Tweak: Decodable, Hashable {
        var category: String
        var collection: String
        var name: String
        var type: String
        var `default`: Value
        var minimum: Value?
        var maximum: Value?
        var scale: String?
        var pair: String?
        var location: String?
    }

    enum Value: Decodable, Hashable {
        case bool(Bool)
        case number(Double)
        case text(String)
        case nothing

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .nothing
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    var images: [Image]

    init(_ output: String) throws {
        self = try JSONDecoder().decode(DumpedJSON.self, from: Data(output.utf8))
    }
}

/// Runs `tweak-dump`.
func dump(_ arguments: [String], home: TemporaryDirectory) throws -> CommandResult {
    try run(Locations.product("tweak-dump"), arguments, home: home)
}

/// Runs `tweak-dump --format json`, which must succeed.
func dumpedJSON(_ arguments: [String]) throws -> DumpedJSON {
    let home = try TemporaryDirectory()
    let result = try dump(["--format", "json"] + arguments, home: home)
    guard result.succeeded else { throw CompilationError(description: result.error) }
    return try DumpedJSON(result.output)
}
