// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import AsyncHTTPClient
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization
internal import TweakFormats
internal import TweakJSON
internal import TweakOverrides
internal import TweakRecords

/// The addresses of a cluster's members. Requests go to one of them until it fails.
///
/// The order is random, because otherwise all clients would use the first one.
final class EtcdEndpoints: Sendable {
    private let endpoints: [String]
    private let index = Atomic(0)

    init(_ cluster: EtcdCluster) { endpoints = cluster.endpoints.shuffled() }

    var count: Int { endpoints.count }
    var current: String { endpoints[index.load(ordering: .relaxed) % endpoints.count] }

    /// Advances to the next member.
    func moveOn() { index.wrappingAdd(1, ordering: .relaxed) }
}

/// A watch of one application.
enum EtcdWatch: Sendable {
    case shared(SharedWatch, Int)
    case own(Task<Void, Never>)

    func cancel() {
        switch self {
        case .shared(let watch, let number): watch.leave(number)
        case .own(let task): task.cancel()
        }
    }
}

/// A client for a cluster, through the JSON gateway of its members.
///
/// It never follows redirects, and limits responses to ``largestAnswer``. Each request asks a member without a leader
/// to fail and end its watches. All applications share one client for a cluster, and so its user's token.
package struct EtcdClient: Sendable {
    let cluster: EtcdCluster
    /// The members for editors, which so share their connections.
    let members: EtcdEndpoints
    private let client: OpenedClient
    private let session = Session()

    /// The session of our user, valid for all members.
    private final class Session: Sendable {
        let token = Mutex<String?>(nil)
    }

    /// The maximum bytes of a response, or of a line of a watch.
    private static let largestAnswer = KeptFile.largestSize
    private static let largestProblem = 1 << 16
    /// Longer than the pauses of a small fleet's agents between requests, each of which would cost etcd a TLS handshake.
    private static let idle: Duration = .seconds(6)

    private let turns: RequestTurns
    /// The reads and watches that many applications share; `nil` if there are only a few.
    private var sharing: EtcdSharing?

    /// The number of applications above which reads and watches are shared.
    private static let manyApplications = 100

    /// - Throws: ``FetchProblem`` if the certificates cannot be used.
    package init(_ cluster: EtcdCluster, _ resources: SharedResources) throws(FetchProblem) {
        self.cluster = cluster
        members = EtcdEndpoints(cluster)
        turns = resources.turns
        client = try resources.client(
            certificates: cluster.certificates, connect: cluster.timeout, idle: Self.idle)
        if resources.etcdApplications >= Self.manyApplications { sharing = EtcdSharing(self) }
    }

    // MARK: - Values of applications

    /// Returns the entries in a range, read together with those of other applications.
    func values(_ query: RangeQuery, at endpoint: String) async throws(FetchProblem) -> (
        EtcdRange, EtcdHeader
    ) {
        guard let sharing else { return try await range(query, at: endpoint) }
        return try await sharing.read(query, at: endpoint)
    }

    /// Watches changes from a revision on, with other applications if possible.
    ///
    /// - Parameters:
    ///   - range: The keys.
    ///   - body: Called with messages, in order.
    ///   - end: Called once with the reason for the end. Both must not call back.
    func watchValues(
        _ range: FleetRange, from revision: Int, at endpoint: String, _ body: @escaping SharedWatch.Body,
        end: @escaping SharedWatch.End
    ) -> EtcdWatch {
        if let shared = sharing?.watch(at: endpoint),
            let number = shared.follow(range, from: revision, body, end: end)
        {
            return .shared(shared, number)
        }
        return .own(
            Task {
                do throws(FetchProblem) {
                    try await watch(range.first, to: range.last, from: revision, at: endpoint, body)
                } catch {
                    end(error)
                }
            })
    }

    // MARK: - Queries

    /// A query for a range of keys.
    struct RangeQuery {
        /// The prefix of the keys, or one whole key.
        var prefix: [UInt8]
        var isWholeKey = false
        /// The first key after the range; `nil` for that after all keys with the prefix.
        var end: [UInt8]?
        var limit = 0
        var newestFirst: Order?
        var isWithoutValues = false
        /// The lowest modification revision.
        var modifiedFrom = 0
        /// The revision to read; 0 for the current one.
        var revision = 0

        enum Order: String {
            case key = "KEY"
            case modified = "MOD"
        }

        init(_ prefix: String) { self.prefix = Array(prefix.utf8) }

        init(_ range: FleetRange) {
            (prefix, end) = (Array(range.first.utf8), EtcdClient.end(of: Array(range.last.utf8)))
        }

        init(key: [UInt8]) { (prefix, isWholeKey) = (key, true) }

        var json: JSONObject {
            var members: JSONObject = ["key": EtcdClient.base64(prefix)]
            if !isWholeKey {
                members["range_end"] = EtcdClient.base64(end ?? EtcdClient.end(of: prefix))
            }
            if limit > 0 { members["limit"] = EtcdClient.integer(limit) }
            if let newestFirst {
                members["sort_order"] = .scalar("DESCEND")
                members["sort_target"] = .scalar(.string(newestFirst.rawValue))
            }
            if isWithoutValues { members["keys_only"] = .scalar(true) }
            if modifiedFrom > 0 { members["min_mod_revision"] = EtcdClient.integer(modifiedFrom) }
            if revision > 0 { members["revision"] = EtcdClient.integer(revision) }
            return members
        }
    }

    /// Returns the entries in a range, as agreed by a majority of the members.
    func range(_ query: RangeQuery, at endpoint: String) async throws(FetchProblem) -> (EtcdRange, EtcdHeader)
    {
        let answer = try await ask("/v3/kv/range", query.json, at: endpoint)
        return (try EtcdRange(answer), try header(answer))
    }

    /// An atomic change.
    struct Transaction {
        /// The preconditions: the revision of each key's last modification, 0 if it must not exist.
        var conditions: [(key: [UInt8], modified: Int)] = []
        var operations: [JSONValue] = []

        mutating func put(_ key: [UInt8], _ value: [UInt8], lease: Int = 0) {
            var put: JSONObject = ["key": EtcdClient.base64(key), "value": EtcdClient.base64(value)]
            if lease != 0 { put["lease"] = EtcdClient.integer(lease) }
            operations.append(.object(["request_put": .object(put)]))
        }

        mutating func remove(_ key: [UInt8], to end: [UInt8]? = nil) {
            var range: JSONObject = ["key": EtcdClient.base64(key)]
            if let end { range["range_end"] = EtcdClient.base64(end) }
            operations.append(.object(["request_delete_range": .object(range)]))
        }
    }

    /// Commits a change.
    ///
    /// - Returns: Whether the preconditions held and the change was made.
    func commit(
        _ transaction: Transaction, at endpoint: String
    ) async throws(FetchProblem) -> (isDone: Bool, EtcdHeader) {
        let conditions = transaction.conditions.map { key, modified in
            JSONValue.object([
                "key": Self.base64(key), "target": .scalar("MOD"), "result": .scalar("EQUAL"),
                "mod_revision": Self.integer(modified),
            ])
        }
        let answer = try await ask(
            "/v3/kv/txn", ["compare": .array(conditions), "success": .array(transaction.operations)],
            at: endpoint)
        return (try answer.flag("succeeded"), try header(answer))
    }

    /// Returns several ranges of the same revision.
    func ranges(
        _ queries: [RangeQuery], at endpoint: String
    ) async throws(FetchProblem) -> ([EtcdRange], EtcdHeader) {
        let requests = queries.map { JSONValue.object(["request_range": .object($0.json)]) }
        let answer = try await ask("/v3/kv/txn", ["success": .array(requests)], at: endpoint)
        let ranges = try answer.objects("responses").map { (response) throws(FetchProblem) in
            guard let range = try response.object("response_range") else {
                throw response.unexpected("response_range", "an object")
            }
            return try EtcdRange(range)
        }
        guard ranges.count == queries.count else {
            throw answer.unexpected("responses", "one for each request")
        }
        return (ranges, try header(answer))
    }

    // MARK: - Leases

    /// The remaining and the granted duration of a lease.
    struct LeaseTime {
        let remaining: Duration
        let granted: Duration

        /// The time since it was granted or renewed.
        var age: Duration { max(.zero, granted - remaining) }
    }

    /// Grants a lease: its keys are removed unless it is renewed in time.
    func grantLease(for time: Duration, at endpoint: String) async throws(FetchProblem) -> Int {
        let answer = try await ask(
            "/v3/lease/grant", ["TTL": Self.integer(Int(time.components.seconds))], at: endpoint)
        return try Self.lease(in: answer)
    }

    /// Renews a lease.
    ///
    /// - Returns: `false` if it had ended.
    func renewLease(_ lease: Int, at endpoint: String) async throws(FetchProblem) -> Bool {
        // A stream of one request and one answer.
        let answer = try await ask("/v3/lease/keepalive", ["ID": Self.integer(lease)], at: endpoint)
        guard let result = try answer.object("result") else {
            let error = answer.error ?? EtcdError("there is no answer")
            throw FetchProblem(message: error.message, isRefusal: true, code: error.code)
        }
        let remaining: Int = try result.integer("TTL")
        return remaining > 0
    }

    /// Ends a lease, and removes its keys.
    func endLease(_ lease: Int, at endpoint: String) async throws(FetchProblem) {
        _ = try await ask("/v3/lease/revoke", ["ID": Self.integer(lease)], at: endpoint)
    }

    private static func lease(in answer: EtcdObject) throws(FetchProblem) -> Int {
        let lease: Int = try answer.integer("ID")
        guard lease != 0 else { throw answer.unexpected("ID", "that of a lease") }
        return lease
    }

    /// Reads the time of a lease; `nil` if it has ended.
    func timeToLive(of lease: Int, at endpoint: String) async throws(FetchProblem) -> LeaseTime? {
        let answer = try await ask("/v3/lease/timetolive", ["ID": Self.integer(lease)], at: endpoint)
        let remaining: Int = try answer.integer("TTL")
        let granted: Int = try answer.integer("grantedTTL")
        guard remaining > 0, granted > 0 else { return nil }
        return LeaseTime(remaining: .seconds(remaining), granted: .seconds(granted))
    }

    private func header(_ answer: EtcdObject) throws(FetchProblem) -> EtcdHeader {
        guard let header = try answer.object("header") else { throw answer.unexpected("header", "an object") }
        return try EtcdHeader(header)
    }

    /// Watches changes from a revision on, until the watch ends.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the keys.
    ///   - last: The last prefix of the keys, if there are several.
    ///   - body: Called with the messages in each part of the stream, possibly several.
    /// - Throws: ``FetchProblem``, in every case.
    func watch(
        _ prefix: String, to last: String? = nil, from revision: Int, at endpoint: String,
        _ body: ([EtcdWatchMessage]) throws(FetchProblem) -> Void
    ) async throws(FetchProblem) {
        let key = Array(prefix.utf8)
        let end = Self.end(of: Array((last ?? prefix).utf8))
        let request: JSONObject = [
            "create_request": .object([
                "key": Self.base64(key), "range_end": Self.base64(end),
                "start_revision": Self.integer(revision), "progress_notify": .scalar(true),
            ])
        ]
        let token = try await token(at: endpoint)
        do {
            let response = try await client.execute(message("/v3/watch", request, token, at: endpoint))
            try await check(response)
            var rest: [UInt8] = []
            for try await part in response.body {
                var part = part
                var messages: [EtcdWatchMessage] = []
                while let line = Self.readLine(&part) {
                    rest += line
                    if !rest.isEmpty { messages.append(try EtcdWatchMessage(rest)) }
                    rest = []
                }
                guard rest.count + part.readableBytes <= Self.largestAnswer else {
                    throw FetchProblem(message: "the answer has more than \(Self.largestAnswer) bytes")
                }
                rest += part.readBytes(length: part.readableBytes) ?? []
                try tell(messages, body)
            }
            // The last line, which contains the reason, is not terminated.
            if !rest.isEmpty { try tell([EtcdWatchMessage(rest)], body) }
        } catch {
            throw FetchProblem(error)
        }
        throw FetchProblem(message: "the watch was ended")
    }

    /// Consumes a line and its newline; `nil` if the newline is missing.
    private static func readLine(_ part: inout ByteBuffer) -> [UInt8]? {
        let length = part.withUnsafeReadableBytes { bytes in
            bytes.baseAddress.flatMap { start in
                memchr(start, CInt(UInt8(ascii: "\n")), bytes.count).map { UnsafeRawPointer($0) - start }
            }
        }
        guard let length, let line = part.readBytes(length: length) else { return nil }
        part.moveReaderIndex(forwardBy: 1)
        return line
    }

    private func tell(
        _ messages: [EtcdWatchMessage], _ body: ([EtcdWatchMessage]) throws(FetchProblem) -> Void
    ) throws(FetchProblem) {
        guard !messages.isEmpty else { return }
        try body(messages)
        for message in messages {
            guard case .ended(let error) = message else { continue }
            let problem = FetchProblem(
                message: "the watch was ended: \(error.message.prefix(300))", code: error.code)
            if problem.isTokenRefused { session.token.withLock { $0 = nil } }
            throw problem
        }
    }

    // MARK: - Requests

    private func ask(
        _ path: String, _ question: JSONObject, at endpoint: String
    ) async throws(FetchProblem) -> EtcdObject {
        do throws(FetchProblem) {
            return try await answer(path, question, try await token(at: endpoint), at: endpoint)
        } catch {
            guard cluster.user != nil, error.isTokenRefused else { throw error }
            // Tokens expire, and a member that was away does not know them.
            session.token.withLock { $0 = nil }
            return try await answer(path, question, try await token(at: endpoint), at: endpoint)
        }
    }

    /// Authenticates.
    private func token(at endpoint: String) async throws(FetchProblem) -> String? {
        guard let user = cluster.user else { return nil }
        if let token = session.token.withLock({ $0 }) { return token }
        let password: String?
        do throws(FormatError) { password = try cluster.password() } catch {
            throw FetchProblem(message: "\(error)", isLasting: true)
        }
        let answer = try await answer(
            "/v3/auth/authenticate",
            ["name": .scalar(.string(user)), "password": .scalar(.string(password ?? ""))], nil, at: endpoint)
        guard let token = try answer.text("token"), !token.isEmpty,
            token.utf8.allSatisfy({ 0x21..<0x7F ~= $0 })
        else { throw answer.unexpected("token", "a token") }
        session.token.withLock { $0 = token }
        return token
    }

    private func message(
        _ path: String, _ question: JSONObject, _ token: String?, at endpoint: String
    ) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: endpoint + path)
        request.method = .POST
        request.headers.add(name: "user-agent", value: "tweak-agent")
        request.headers.add(name: "content-type", value: "application/json")
        // As the clients of etcd do.
        request.headers.add(name: "grpc-metadata-hasleader", value: "true")
        if let token { request.headers.add(name: "authorization", value: token) }
        request.body = .bytes(JSONValue.object(question).json())
        return request
    }

    private func answer(
        _ path: String, _ question: JSONObject, _ token: String?, at endpoint: String
    ) async throws(FetchProblem) -> EtcdObject {
        let request = message(path, question, token, at: endpoint)
        let bytes = try await turns.take(at: endpoint, for: cluster.timeout) {
            let response = try await client.execute(request)
            try await check(response)
            return try await response.bytes(limit: Self.largestAnswer)
        }
        return try EtcdObject(bytes)
    }

    /// Checks the status and the type of a response from the gateway.
    private func check(_ response: HTTPClientResponse) async throws {
        let type = response.headers.first(name: "content-type") ?? ""
        let isJSON = type.lowercased().split(separator: ";").first == "application/json"
        guard response.status.code == 200 else {
            guard isJSON else { throw FetchProblem(message: "HTTP status \(response.status.code)") }
            let body = try await response.bytes(limit: Self.largestProblem)
            let error = (try? EtcdObject(body))?.error
            throw FetchProblem(
                message: "HTTP status \(response.status.code)" + (error.map { ": \($0.message)" } ?? ""),
                isRefusal: 400..<500 ~= response.status.code && error != nil, code: error?.code)
        }
        guard isJSON else {
            throw FetchProblem(message: "the answer is \"\(type.prefix(80))\"; application/json is expected")
        }
    }

    // MARK: - JSON

    private static func base64(_ bytes: [UInt8]) -> JSONValue {
        .scalar(.string(Base64.text(of: bytes)))
    }

    private static func integer(_ number: Int) -> JSONValue { .scalar(.string("\(number)")) }

    /// The first key after all keys with a prefix.
    static func end(of prefix: [UInt8]) -> [UInt8] {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        // All keys.
        return [0]
    }
}

extension FetchProblem {
    /// Whether the user lacks the permission to read or watch these keys.
    var isForbidden: Bool { code == .permissionDenied }
    /// Whether a lease has ended before its keys were written.
    var isLeaseMissing: Bool { code == .notFound }
    /// Whether a revision was compacted, or does not exist yet.
    var isRevisionMissing: Bool { code == .outOfRange }

    /// Whether etcd calls for a new token: it does not know this one, or users have changed since.
    var isTokenRefused: Bool {
        switch code {
        case .unauthenticated: true
        // Both are rare, and a request that is wrong otherwise is refused again.
        case .invalidArgument: true
        // By words: etcd 3.4 has no code for users that have changed.
        case .unknown: message.contains("revision in header is old")
        default: false
        }
    }
}
#endif
