// SPDX-License-Identifier: BSD-3-Clause
#if Remote
package import TweakFormats
package import TweakJSON
package import TweakRecords
internal import TweakTargeting

// The keys in etcd below PREFIX/ENVIRONMENT/APPLICATION/:
//
//     values/Category/Collection/Name     a value: { "value": 5, "by": "ann@ops", "why": "…", "at": "…", "for": {} }
//     values.kill/Category/…              the same for a value above all others
//     plans/Category/Collection/Name      the rollout of a value, see RolloutPlan
//     history/00000000000000000042        the forty-second change: { "id": "…", "by": …, "changes": [] }
//     hosts/web1                          what the agent of a host has: { "version": 42, "revision": 977, "refused": [] }
//     hosts.alive/web1                    is there while that agent is in touch with etcd
//     schema/3f2a91c4.5be0                what a build declares: { "program": "/usr/bin/search", "tweaks": [] }
//
// Agents read and watch the range from the kills to the values, which are neighbours. Agents that only know values
// watch those. Names have their usual form, with %2F for a slash and %25 for a percent sign inside a level.

/// The kinds of values in etcd.
package enum FleetPlace: String, Sendable {
    /// Values above all others but those of a session.
    case kills = "values.kill/"
    /// Values, which a web server, an override and the environment take precedence over.
    case values = "values/"

    /// All kinds, in the order of their keys. An agent has thousands of applications, which share this.
    static let all: [FleetPlace] = [.kills, .values]
}

/// The keys of some kinds of values, which are neighbours.
struct FleetRange: Hashable, Sendable {
    /// The prefix of the application's keys, with a trailing slash.
    let root: String
    /// In the order of their keys.
    let places: [FleetPlace]

    /// The beginning of the first keys, and of the last.
    var first: String { root + (places.first ?? .values).rawValue }
    var last: String { root + (places.last ?? .values).rawValue }

    /// The tweak and the kind of the value under a key; `nil` for other keys, and for alternative spellings.
    func tweak(of key: [UInt8]) -> (tweak: TweakKey, place: FleetPlace)? {
        guard key.starts(with: root.utf8) else { return nil }
        let rest = key.dropFirst(root.utf8.count)
        guard let place = places.first(where: { rest.starts(with: $0.rawValue.utf8) }) else { return nil }
        let bytes = rest.dropFirst(place.rawValue.utf8.count)
        return TweakKey(spelled: bytes).map { ($0, place) }
    }
}

extension TweakKey {
    /// The tweak with a name; `nil` for other bytes, and for alternative spellings.
    init?(spelled bytes: ArraySlice<UInt8>) {
        self.init(String(decoding: bytes, as: UTF8.self))
        guard description.utf8.elementsEqual(bytes) else { return nil }
    }
}

/// The keys of an application.
package struct FleetKeys: Hashable, Sendable {
    /// With a trailing slash.
    package let root: String
    /// The kind of values.
    package let place: FleetPlace

    package init(_ settings: EtcdSettings, _ place: FleetPlace = .values) {
        (root, self.place) = (settings.root, place)
    }

    var values: String { root + place.rawValue }
    var history: String { root + "history/" }
    var builds: String { root + "schema/" }
    /// The beginning of all keys of rollouts.
    var rollouts: String { root + "plans" }
    var hosts: String { root + "hosts/" }
    var aliveHosts: String { root + "hosts.alive/" }

    /// The key of a tweak's value.
    func key(of tweak: TweakKey) -> [UInt8] { key(of: tweak, in: place) }

    /// The key of a tweak's value of some kind.
    func key(of tweak: TweakKey, in place: FleetPlace) -> [UInt8] {
        Array((root + place.rawValue + tweak.description).utf8)
    }

    /// The tweak whose value is under a key; `nil` for other keys, and for alternative spellings.
    func tweak(of key: [UInt8]) -> TweakKey? { FleetRange(root: root, places: [place]).tweak(of: key)?.tweak }

    /// The key of a build's declarations.
    func key(ofBuild id: String) -> [UInt8] { Array((builds + id).utf8) }

    /// The build whose declarations are under a key; `nil` for other keys.
    func build(of key: [UInt8]) -> String? {
        guard key.starts(with: builds.utf8) else { return nil }
        let id = String(decoding: key.dropFirst(builds.utf8.count), as: UTF8.self)
        return DeclaredBuild.isID(id) ? id : nil
    }

    /// The key of a host's report.
    func key(ofReport host: String) -> [UInt8] { Array((hosts + host).utf8) }

    /// The key that is there while a host's agent is in touch with etcd.
    func key(ofAlive host: String) -> [UInt8] { Array((aliveHosts + host).utf8) }

    /// The host in a key that begins with ``hosts`` or ``aliveHosts``; `nil` for other keys.
    func host(of key: [UInt8]) -> String? {
        for prefix in [hosts, aliveHosts] where key.starts(with: prefix.utf8) {
            let bytes = key.dropFirst(prefix.utf8.count)
            let host = String(decoding: bytes, as: UTF8.self)
            return EtcdCluster.isName(host) && host.utf8.elementsEqual(bytes) ? host : nil
        }
        return nil
    }

    /// The key of a change. Keys sort by number.
    func key(ofChange number: Int) -> [UInt8] {
        let digits = String(number)
        return Array((history + String(repeating: "0", count: max(0, 20 - digits.utf8.count)) + digits).utf8)
    }

    /// A query for the keys of the newest changes: the newest one suffices, but foreign keys may follow it.
    var newestChanges: EtcdClient.RangeQuery {
        var query = EtcdClient.RangeQuery(history + "0")
        (query.limit, query.newestFirst, query.isWithoutValues) = (10, .key, true)
        return query
    }

    /// The number of the change recorded under a key; `nil` for other keys.
    ///
    /// Each change makes a revision, so the tenth is not made before revision 10. A key with a higher number is
    /// foreign; continuing from there would lose all changes before.
    func number(ofChange entry: EtcdEntry) -> Int? {
        place(ofChange: entry.key).flatMap { 1...max(1, entry.created) ~= $0 ? $0 : nil }
    }

    /// The number in a key, regardless of who wrote it.
    func place(ofChange key: [UInt8]) -> Int? {
        guard key.starts(with: history.utf8) else { return nil }
        let digits = key.dropFirst(history.utf8.count)
        guard digits.count == 20, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}

/// The value of one tweak in etcd.
package struct FleetValue: Hashable, Sendable {
    package var value: TweakValue
    /// The target hosts and programs; `nil` for all.
    package var filters: JSONObject?
    /// The value for other hosts and programs; `nil` if the next provider decides there.
    package var otherwise: Alternative?
    /// The author.
    package var by: String?
    package var why: String?
    /// The time, in the format of RFC 3339.
    package var at: String?

    /// A value where the filters of another one do not match, which keeps the old value there during a rollout.
    package struct Alternative: Hashable, Sendable {
        package var value: TweakValue
        package var filters: JSONObject?

        package init(_ value: TweakValue, filters: JSONObject? = nil) {
            (self.value, self.filters) = (value, filters)
        }

        /// Consumes the value and its filters.
        init(consuming members: inout Members) throws(FormatError) {
            let expectation = "true, false, a number or text"
            let value = try members.take("value") { (place, value) throws(FormatError) -> TweakValue in
                if case .scalar(.string) = value { return .string(try place.textWithoutNUL(value)) }
                guard let scalar = value.tweakValue else { throw place.unexpected(value, expectation) }
                return scalar
            }
            self.value = try members.required("value", value, expectation)
            filters = try members.take("for") { (place, value) throws(FormatError) in
                try place.object(value, "an object with filters")
            }
        }

        /// The value's targets; `nil` for all.
        func target(for tweak: TweakKey) throws(FormatError) -> FeatureTarget? {
            guard let filters else { return nil }
            return try FeatureTarget(filters: filters, key: tweak.description, path: tweak.description)
        }

        package var content: JSONObject {
            var members: JSONObject = ["value": .scalar(value)]
            if let filters { members["for"] = .object(filters) }
            return members
        }
    }

    package init(
        _ value: TweakValue, filters: JSONObject? = nil, otherwise: Alternative? = nil, by: String? = nil,
        why: String? = nil, at: String? = nil
    ) {
        (self.value, self.filters, self.otherwise) = (value, filters, otherwise)
        (self.by, self.why, self.at) = (by, why, at)
    }

    /// Parses a value. Unknown members are refused, because they may restrict the value's targets.
    ///
    /// - Throws: ``FormatError`` with the place.
    package init(json: [UInt8], of tweak: TweakKey) throws(FormatError) {
        let path = tweak.description
        let parsed = try JSONParser.value(of: json, at: path)
        var members = try Members(parsed, JSONPlace(path: path))
        let main = try Alternative(consuming: &members)
        (value, filters) = (main.value, main.filters)
        if var other = try members.object("otherwise") {
            guard filters != nil else { throw members.invalid("otherwise", "it needs \"for\" beside it") }
            otherwise = try Alternative(consuming: &other)
            try other.end()
        }
        (by, why, at) = (try members.anyText("by"), try members.anyText("why"), try members.anyText("at"))
        try members.end()
        _ = try target(for: tweak)
        _ = try otherwise?.target(for: tweak)
    }

    private var main: Alternative { Alternative(value, filters: filters) }

    /// The value's targets; `nil` for all.
    func target(for tweak: TweakKey) throws(FormatError) -> FeatureTarget? { try main.target(for: tweak) }

    /// Throws for unknown filters. When values are read, such filters may be of a later version, and never match.
    package func checkFilters(for tweak: TweakKey) throws(FormatError) {
        for target in [try target(for: tweak), try otherwise?.target(for: tweak)] {
            if let unknown = target?.unknownFilters.first { throw unknown }
        }
    }

    /// The value, its filters and the value for others, without author, time and reason.
    var content: JSONObject {
        var members = main.content
        if let otherwise { members["otherwise"] = .object(otherwise.content) }
        return members
    }

    package func json() -> [UInt8] {
        var members = content
        for (name, text) in [("by", by), ("why", why), ("at", at)] {
            if let text { members[name] = .scalar(.string(text)) }
        }
        return JSONValue.object(members).json()
    }

    /// The origin of the value, for people: who set it, when and why.
    ///
    /// - Parameter revision: The revision of the change; `nil` to leave it out.
    package func reason(in place: FleetPlace, revision: Int? = nil) -> String {
        [
            place == .kills ? "killed" : "set", by.map { "by \($0)" }, at.map { "at \($0)" },
            revision.map { "(revision \($0))" },
        ].compactMap(\.self).joined(separator: " ") + (why.map { ": \($0)" } ?? "")
    }
}
#endif
