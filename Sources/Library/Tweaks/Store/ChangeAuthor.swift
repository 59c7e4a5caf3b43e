// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import TweakRecords
internal import TweakSystem

/// Who made a change. The provider of the new value is its source, which may be another one: a reset by a client can
/// leave the value of a provider.
enum ChangeAuthor: Sendable {
    /// The program, with the functions of the library.
    case program
    /// A client of the control socket.
    case client(ClientIdentity)
    /// Someone who edited the overrides file.
    case file
    /// A provider that reported other values.
    case provider(TweakSource)

    /// Whether it is somebody outside of the program.
    var isOutside: Bool {
        switch self {
        case .client, .file: true
        case .program, .provider: false
        }
    }

    /// The person for whom a client makes the change, as the client says.
    var person: String? { if case .client(let client) = self { client.person } else { nil } }
}

extension ChangeAuthor: CustomStringConvertible {
    /// `program`, `file`, the name of a provider, or a client such as `tweak 4711 ada`.
    var description: String {
        switch self {
        case .program: "program"
        case .client(let client): client.description
        case .file: "file"
        case .provider(let source): source.name
        }
    }
}

/// A client of the control socket as the kernel describes it, whatever the client says about itself; and the person for whom
/// it asks, as it says.
final class ClientIdentity: Sendable {
    /// The process that connected; 0 if it is outside this container.
    let process: Int32
    /// The user of the process.
    let user: UInt32
    /// The name of the executable, the process and the user, such as `tweak 4711 ada`; `?` for an unknown name.
    let description: String
    let person: String?
    /// The connection; `nil` if this stands for it.
    private let base: ClientIdentity?

    /// What stands for the connection, whoever the person is.
    var connection: ClientIdentity { base ?? self }

    convenience init(_ peer: fbtweak__peer) { self.init(process: peer.process, user: peer.user) }

    init(process: Int32, user: UInt32) {
        (self.process, self.user, person, base) = (process, user, nil, nil)
        description = "\(Self.programName(of: process) ?? "?") \(process) \(Self.accountName(of: user))"
    }

    /// A person for whom the client of a connection asks.
    init(of connection: ClientIdentity, person: String) {
        (process, user, description) = (connection.process, connection.user, connection.description)
        (self.person, base) = (person, connection)
    }

    /// Whether both are connections of one process, for one person.
    func isSame(as other: ClientIdentity) -> Bool {
        self === other || process != 0 && (process, user, person) == (other.process, other.user, other.person)
    }

    /// The name of a process's executable. A process can choose its own name, so that counts only if the kernel does
    /// not show the executable, as of another user, or if that is the program that is both `tweak-ui` and `tweak-agent`.
    private static func programName(of process: Int32) -> String? {
        guard process > 0 else { return nil }
        if let name = executablePath(of: "\(process)").map(lastComponent), name != "tweaks-network" {
            return name
        }
        return readWhole("/proc/\(process)/comm", limit: 64).flatMap { $0.trimmed(of: UInt8(ascii: "\n")) }
    }

    /// The name of a user in `/etc/passwd`, or else the number. Other directories of users may take seconds.
    private static func accountName(of user: UInt32) -> String {
        for line in readWhole("/etc/passwd", limit: 1 << 20)?.split(separator: UInt8(ascii: "\n")) ?? [] {
            let fields = line.split(
                separator: UInt8(ascii: ":"), maxSplits: 3, omittingEmptySubsequences: false)
            if fields.count > 2, String(decoding: fields[2], as: UTF8.self) == "\(user)", !fields[0].isEmpty {
                return String(decoding: fields[0], as: UTF8.self)
            }
        }
        return "\(user)"
    }
}

extension [UInt8] {
    fileprivate func trimmed(of end: UInt8) -> String? {
        let bytes = last == end ? dropLast() : self[...]
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

/// Facts about changes that were made together.
struct ChangeNote: Sendable {
    /// The time since 1970.
    let time: Duration
    let author: ChangeAuthor
    /// The number in the history; 0 if it has none.
    let number: UInt64
    /// The text by which the client recognises them.
    let tag: String?

    init(of update: ValueUpdate) {
        (time, author, number, tag) = (.since1970, update.author, update.number, update.tag)
    }
}
