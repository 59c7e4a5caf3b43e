#if Remote
internal import TweakJSON
internal import TweakRecords

// What the JSON gateway of etcd answers. Source of the form: rpc.proto and kv.proto of etcd 3.4, in the JSON mapping of
// protocol buffers: integers of 64 bits are texts, bytes are Base64, and a member that is 0, false or empty is left out.

/// Of which cluster an answer is, and of which of its states.
struct EtcdHeader: Hashable {
    /// A million changes a second would not reach the last one in a hundred thousand years.
    static let revisions = 0...(1 << 62)

    let cluster: UInt64
    let revision: Int

    init(_ object: EtcdObject) throws(FetchProblem) {
        cluster = try object.integer("cluster_id")
        // A watch that ends has none.
        revision = try object.revision("revision")
        guard cluster != 0 else { throw object.unexpected("cluster_id", "that of a cluster") }
    }
}

/// A key and what it has.
struct EtcdEntry: Hashable {
    let key: [UInt8]
    let value: [UInt8]
    let created: Int
    let modified: Int

    init(_ object: EtcdObject) throws(FetchProblem) {
        key = try object.bytes("key")
        value = try object.bytes("value")
        created = try object.revision("create_revision")
        modified = try object.revision("mod_revision")
        guard modified > 0 else { throw object.unexpected("mod_revision", "a revision") }
    }
}

/// The entries in a range of keys.
struct EtcdRange: Hashable {
    let entries: [EtcdEntry]
    /// How many there are, also if not all were asked for.
    let count: Int

    /// Nothing.
    init() { (entries, count) = ([], 0) }

    init(_ object: EtcdObject) throws(FetchProblem) {
        entries = try object.objects("kvs").map { (entry) throws(FetchProblem) in try EtcdEntry(entry) }
        count = try object.integer("count")
        guard count >= entries.count else { throw object.unexpected("count", "the number of entries") }
    }
}

/// What one line of a watch says.
enum EtcdWatchMessage {
    /// The watch has begun, on a member in this state.
    case created(EtcdHeader)
    /// What has changed up to a revision.
    case changes([Change], upTo: EtcdHeader)
    /// What was asked for is not there any more.
    case compacted
    /// It has ended, and why.
    case ended(String)

    struct Change {
        let entry: EtcdEntry
        let isGone: Bool
    }

    init(_ line: [UInt8]) throws(FetchProblem) {
        let root = try EtcdObject(line)
        guard let result = try root.object("result") else {
            self = .ended(root.message ?? "there is no reason")
            return
        }
        guard let object = try result.object("header") else {
            throw result.unexpected("header", "an object")
        }
        let header = try EtcdHeader(object)
        if try result.revision("compact_revision") > 0 {
            self = .compacted
        } else if try result.flag("canceled") {
            self = .ended(try result.text("cancel_reason") ?? "there is no reason")
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

/// An object in an answer. Its members are what they have to be, or the answer is not believed.
struct EtcdObject {
    private let members: JSONObject
    private let place: JSONPlace<FetchProblem>

    /// Reads a whole answer.
    init(_ json: [UInt8]) throws(FetchProblem) {
        let place = JSONPlace<FetchProblem>(path: "the answer is not one of etcd")
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
        let place = place.inside(name)
        return try place.array(value, "an array").enumerated().map { (index, element) throws(FetchProblem) in
            try EtcdObject(element, place.inside("\(index)"))
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

    /// The number of a state. That behind it is one too.
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

    /// What etcd says is wrong: beside the status of an answer, or at the end of a watch.
    var message: String? {
        if let error = try? object("error") { return error.message }
        for name in ["message", "error"] {
            if case .scalar(.string(let text))? = members[name] { return String(text.prefix(300)) }
        }
        return nil
    }
}

extension FetchProblem: JSONPlaceError {
    package init(path: String, place: [String], reason: String) {
        let place = place.isEmpty ? "" : place.joined(separator: ".") + ": "
        self.init(message: "\(path): \(place)\(reason)")
    }
}
#endif
