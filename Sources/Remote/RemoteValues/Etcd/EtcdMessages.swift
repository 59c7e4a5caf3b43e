// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import TweakJSON
internal import TweakRecords

// Responses of etcd's JSON gateway. Source: rpc.proto and kv.proto of etcd 3.4, in the JSON mapping of protocol
// buffers: 64-bit integers are strings, bytes are Base64, and members that are 0, false or empty are omitted.

/// The cluster and the revision of a response.
struct EtcdHeader: Hashable {
    /// At a million changes per second, the largest would be reached in a hundred thousand years.
    static let revisions = 0...(1 << 62)

    let cluster: UInt64
    let revision: Int

    init(_ object: EtcdObject) throws(FetchProblem) {
        cluster = try object.integer("cluster_id")
        // 0 when a watch ends.
        revision = try object.revision("revision")
        guard cluster != 0 else { throw object.unexpected("cluster_id", "that of a cluster") }
    }

    private init(cluster: UInt64, revision: Int) { (self.cluster, self.revision) = (cluster, revision) }

    /// The header with at least this revision.
    func notBefore(_ revision: Int) -> EtcdHeader {
        EtcdHeader(cluster: cluster, revision: max(self.revision, revision))
    }
}

/// A key and its value.
struct EtcdEntry: Hashable {
    let key: [UInt8]
    let value: [UInt8]
    let created: Int
    let modified: Int
    /// The lease at whose end the entry is removed; 0 if it has none.
    let lease: Int

    init(_ object: EtcdObject) throws(FetchProblem) {
        key = try object.bytes("key")
        value = try object.bytes("value")
        created = try object.revision("create_revision")
        modified = try object.revision("mod_revision")
        lease = try object.integer("lease")
        guard modified > 0 else { throw object.unexpected("mod_revision", "a revision") }
    }
}

/// The entries in a range of keys.
struct EtcdRange: Hashable {
    let entries: [EtcdEntry]
    /// The total number, even if only some were requested.
    let count: Int

    /// Creates an empty range.
    init() { (entries, count) = ([], 0) }

    init(_ object: EtcdObject) throws(FetchProblem) {
        entries = try object.objects("kvs").map { (entry) throws(FetchProblem) in try EtcdEntry(entry) }
        count = try object.integer("count")
        guard count >= entries.count else { throw object.unexpected("count", "the number of entries") }
    }
}

/// A message in one line of a watch.
enum EtcdWatchMessage {
    /// The watch has started, on a member at this revision.
    case created(EtcdHeader)
    /// The changes up to a revision.
    case changes([Change], upTo: EtcdHeader)
    /// The requested revision no longer exists.
    case compacted
    /// The watch has ended.
    case ended(EtcdError)

    struct Change {
        let entry: EtcdEntry
        let isGone: Bool
    }

    init(_ line: [UInt8]) throws(FetchProblem) {
        let root = try EtcdObject(line)
        guard let result = try root.object("result") else {
            self = .ended(root.error ?? EtcdError("there is no reason"))
            return
        }
        guard let object = try result.object("header") else {
            throw result.unexpected("header", "an object")
        }
        let header = try EtcdHeader(object)
        if try result.revision("compact_revision") > 0 {
            self = .compacted
        } else if try result.flag("canceled") {
            self = .ended(EtcdError(try result.text("cancel_reason") ?? "there is no reason"))
        } else if try result.flag("created") {
            self = .created(header)
        } else {
            var changes: [Change] = []
            for event in try result.objects("events") {
                guard let entry = try event.object("kv") else { throw event.unexpected("kv", "an object") }
                let type = try event.text("type")
                guard type == nil || type == "PUT" || type == "DELETE" else {
                    throw event.unexpected("type", "PUT or DELETE")
                }
                changes.append(Change(entry: try EtcdEntry(entry), isGone: type == "DELETE"))
            }
            self = .changes(changes, upTo: header)
        }
    }
}

/// An object in a response. A response with an invalid member is rejected.
struct EtcdObject {
    private let members: JSONObject
    private let place: JSONPlace<FetchProblem>

    /// Parses a whole response.
    init(_ json: [UInt8]) throws(FetchProblem) {
        let place = JSONPlace<FetchProblem>(path: "the answer is not that of etcd")
        let value: JSONValue
        do throws(JSONError) { value = try JSONParser.value(of: json) } catch {
            throw place.invalid(error.reason)
        }
        try self.init(value, place)
    }

    private init(_ value: JSONValue, _ place: JSONPlace<FetchProblem>) throws(FetchProblem) {
        (members, self.place) = (try place.object(value), place)
    }

    func unexpected(_ name: String, _ expectation: String) -> FetchProblem {
        place.inside(name).unexpected(members[name], expectation)
    }

    func object(_ name: String) throws(FetchProblem) -> EtcdObject? {
        try members[name].map { (value) throws(FetchProblem) in try EtcdObject(value, place.inside(name)) }
    }

    func objects(_ name: String) throws(FetchProblem) -> [EtcdObject] {
        guard let value = members[name] else { return [] }
        return try place.inside(name).array(value, "an array") { (place, element) throws(FetchProblem) in
            try EtcdObject(element, place)
        }
    }

    func text(_ name: String) throws(FetchProblem) -> String? {
        try members[name].map { (value) throws(FetchProblem) in try place.inside(name).text(value) }
    }

    func flag(_ name: String) throws(FetchProblem) -> Bool {
        guard let value = members[name] else { return false }
        return try place.inside(name).flag(value)
    }

    func integer<Integer: FixedWidthInteger>(_ name: String) throws(FetchProblem) -> Integer {
        guard members[name] != nil else { return 0 }
        guard let text = try text(name), text.utf8.count <= 20, let number = Integer(text) else {
            throw unexpected(name, "an integer as text")
        }
        return number
    }

    /// A revision that can still be incremented.
    func revision(_ name: String) throws(FetchProblem) -> Int {
        let revision: Int = try integer(name)
        guard EtcdHeader.revisions ~= revision else { throw unexpected(name, "a revision") }
        return revision
    }

    func bytes(_ name: String) throws(FetchProblem) -> [UInt8] {
        guard let text = try text(name) else { return [] }
        guard let data = Base64.bytes(of: text) else { throw unexpected(name, "Base64") }
        return data
    }

    /// The error of etcd: in a response with an error status, or at the end of a watch.
    var error: EtcdError? {
        if let error = try? object("error") { return error.error }
        for name in ["message", "error"] {
            guard case .scalar(.string(let text))? = members[name] else { continue }
            // Streams call it "grpc_code".
            let code = ["code", "grpc_code"].lazy.compactMap { name in
                if case .scalar(.integer(let number))? = members[name] { number } else { nil }
            }.first
            return EtcdError(String(text.prefix(300)), code.flatMap { Int(exactly: $0) })
        }
        return nil
    }
}

/// An error of etcd, with a message for people.
struct EtcdError {
    let message: String
    let code: EtcdCode?

    init(_ message: String, _ code: Int? = nil) {
        self.message = message
        self.code = code.map { EtcdCode(rawValue: $0) } ?? EtcdCode(written: message)
    }
}

/// The codes of gRPC that decide what happens after an error.
package enum EtcdCode: Int, CaseIterable {
    case unknown = 2
    case invalidArgument = 3
    case notFound = 5
    case permissionDenied = 7
    case outOfRange = 11
    case unauthenticated = 16

    /// Parses gRPC's text for an error, the only form that the end of a watch has:
    /// `rpc error: code = PermissionDenied desc = etcdserver: permission denied`.
    fileprivate init?(written text: String) {
        let start = "rpc error: code = "
        guard text.hasPrefix(start) else { return nil }
        let name = text.dropFirst(start.count).prefix { $0 != " " }.lowercased()
        guard let code = Self.allCases.first(where: { "\($0)".lowercased() == name }) else { return nil }
        self = code
    }
}

extension FetchProblem: JSONPlaceError {
    package init(path: String, place: [String], reason: String) {
        let place = place.isEmpty ? "" : place.joined(separator: ".") + ": "
        self.init(message: "\(path): \(place)\(reason)")
    }
}
#endif
