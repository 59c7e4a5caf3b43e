// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakOverrides
import TweakRecords
import TweakSystem

/// The panels of a program, as files with a JSON object. The server reads its `application`, and pages the rest.
///
/// The user's own are `$XDG_CONFIG_HOME/tweaks/<application>/panels/*.panel.json`. A team keeps its panels as `*.panel.json`
/// in the folder of the sources.
struct PanelFolders {
    enum Place: String, Codable, CaseIterable {
        case user, sources
    }

    /// The maximum size of a file, in bytes.
    static let largest = 1 << 18
    private static let suffix = ".panel.json"

    private let application: String
    private let user: String
    private let sources: String?

    /// - Parameter sources: The folder of the sources, if there is one.
    init(of program: any Program, sources: String?) throws(Failure) {
        application = try program.description.application
        (user, self.sources) = (try program.keptFolder + "/panels", sources)
    }

    /// A panel, or why it cannot be read.
    struct Panel: Encodable {
        let name: String
        let place: Place
        var content: JSONValue?
        var problem: String?
    }

    /// All panels of the program, sorted by place and name. A file that is for another application is none.
    var all: [Panel] {
        Place.allCases.flatMap { place in
            (folder(place).map { directoryEntries($0) } ?? []).filter { $0.hasSuffix(Self.suffix) }
                .compactMap { unescapedFileName($0.dropLast(Self.suffix.count)) }.sorted()
                .compactMap { panel($0, place) }
        }
    }

    private func folder(_ place: Place) -> String? {
        switch place {
        case .user: user
        case .sources: sources
        }
    }

    private func panel(_ name: String, _ place: Place) -> Panel? {
        do throws(Failure) {
            let file = try file(name, place)
            guard let bytes = try failing({ try file.read() }) else { return nil }
            guard bytes.count <= Self.largest else {
                throw Failure("\(file.path): it has more than \(Self.largest) bytes", .invalid)
            }
            let content: JSONValue
            do throws(JSONError) { content = try decodeJSON(from: bytes) } catch {
                throw Failure("\(file.path): \(error)", .invalid)
            }
            guard case .object(let members) = content else {
                throw Failure("\(file.path): it is not a JSON object", .invalid)
            }
            if case .scalar(.string(let other))? = members["application"], other != application {
                return nil
            }
            return Panel(name: name, place: place, content: content)
        } catch {
            return Panel(name: name, place: place, problem: error.message)
        }
    }

    /// Saves a panel.
    ///
    /// - Parameter isReplaced: Whether a panel of this name is replaced.
    func save(
        _ content: JSONValue, as name: String, in place: Place, replacing isReplaced: Bool
    ) throws(Failure) {
        let file = try file(name, place)
        guard case .object(var members) = content else {
            throw Failure("\(name): the content of a panel is a JSON object", .invalid)
        }
        members["application"] = .scalar(.string(application))
        let bytes = JSONValue.object(members).json(isPretty: true) + [UInt8(ascii: "\n")]
        guard bytes.count <= Self.largest else {
            throw Failure("\(name): a panel has at most \(Self.largest) bytes", .invalid)
        }
        let isThere = try failing { () throws(OverridesError) -> Bool in
            try KeptFile(path: user + "/.lock").makeDirectories()
            return try file.withLock { () throws(OverridesError) -> Bool in
                var status = stat()
                if !isReplaced, lstat(file.path, &status) == 0 { return true }
                do throws(FileError) {
                    try FileReplacement.replace(
                        file.path, with: bytes, permissions: place == .user ? 0o600 : 0o644)
                } catch { throw OverridesError(error) }
                return false
            }
        }
        guard !isThere else {
            throw Failure(
                "\(name): there is a panel with this name; overwrite it, or choose another name",
                .invalid)
        }
    }

    func remove(_ name: String, _ place: Place) throws(Failure) {
        let file = try file(name, place)
        guard unlink(file.path) == 0 else {
            throw errno == ENOENT
                ? Failure("\(name): no such panel", .missing) : Failure(file.failure("remove"))
        }
    }

    private func file(_ name: String, _ place: Place) throws(Failure) -> KeptFile {
        guard let folder = folder(place) else {
            throw Failure("tweak ui was started without --sources, so it writes no panels there", .forbidden)
        }
        return KeptFile(
            path: try folder + "/" + keptFileName(name, Self.suffix, of: "panel"), lockPath: user + "/.lock")
    }
}
