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

/// The addresses of a cluster's members, of which one is asked until it fails.
///
/// Clients that all began with the first one would leave the others without work.
final class EtcdEndpoints: Sendable {
    private let endpoints: [String]
    private let index = Atomic(0)

    init(_ cluster: EtcdCluster) { endpoints = cluster.endpoints.shuffled() }

    var count: Int { endpoints.count }
    var current: String { endpoints[index.load(ordering: .relaxed) % endpoints.count] }

    /// Goes on with the next one.
    func moveOn() { index.wrappingAdd(1, ordering: .relaxed) }
}

/// Speaks with the members of a cluster, through the JSON gateway that each of them has.
///
/// Nothing here follows a redirect, and no answer is longer than ``largestAnswer``. A member that has lost its leader
/// answers nothing and ends its watches: it is asked for that with each request. All applications of a cluster share one, and
/// so the token of their user.
package struct EtcdClient: Sendable {
    let cluster: EtcdCluster
    private let opened: OpenedClient
    private var client: HTTPClient { opened.current }
    private let session = Session()

    /// What is known of our user, which all members know.
    private final class Session: Sendable {
        let token = Mutex<String?>(nil)
    }

    /// The most bytes that an answer, or a line of a watch, has.
    private static let largestAnswer = KeptFile.largestSize
    private static let largestProblem = 1 << 16

    private let turns: RequestTurns

    /// - Throws: ``FetchProblem`` if the certificates cannot be used.
    package init(_ cluster: EtcdCluster, _ resources: SharedResources) throws(FetchProblem) {
        self.cluster = cluster
        turns = resources.turns
        opened = try resources.client(certificates: cluster.certificates, connect: cluster.timeout)
    }

    // MARK: - Questions

    /// What is asked of a range of keys.
    struct RangeQuery {
        /// What the keys begin with, or one whole key.
        var prefix: [UInt8]
        var isWholeKey = false
        var limit = 0
        var newestFirst: Order?
        var isWithoutValues = false
        /// Only what has been changed since.
        var modifiedFrom = 0
        /// What was there at a revision; 0 for now.
        var revision = 0

        enum Order: String {
            case key = "KEY"
            case modified = "MOD"
        }

        init(_ prefix: String) { self.prefix = Array(prefix.utf8) }
        init(key: [UInt8]) { (prefix, isWholeKey) = (key, true) }

        var json: JSONObject {
            var members: JSONObject = ["key": EtcdClient.base64(prefix)]
            if !isWholeKey { members["range_end"] = EtcdClient.base64(EtcdClient.end(of: prefix)) }
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

    /// What is there, as the majority of the members knows it.
    func range(_ query: RangeQuery, at endpoint: String) async throws(FetchProblem) -> (EtcdRange, EtcdHeader)
    {
        let answer = try await ask("/v3/kv/range", query.json, at: endpoint)
        return (try EtcdRange(answer), try header(answer))
    }

    /// A change, which is made as a whole or not at all.
    struct Transaction {
        /// What must be so: a key has been modified at a revision, or is not there, which is 0.
        var conditions: [(key: [UInt8], modified: Int)] = []
        var operations: [JSONValue] = []

        mutating func put(_ key: [UInt8], _ value: [UInt8]) {
            operations.append(
                .object([
                    "request_put": .object(["key": EtcdClient.base64(key), "value": EtcdClient.base64(value)])
                ]))
        }

        mutating func remove(_ key: [UInt8], to end: [UInt8]? = nil) {
            var range: JSONObject = ["key": EtcdClient.base64(key)]
            if let end { range["range_end"] = EtcdClient.base64(end) }
            operations.append(.object(["request_delete_range": .object(range)]))
        }
    }

    /// Makes a change.
    ///
    /// - Returns: Whether the conditions held, and it was made.
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

    /// Several ranges of the same state.
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

    private func header(_ answer: EtcdObject) throws(FetchProblem) -> EtcdHeader {
        guard let header = try answer.object("header") else { throw answer.unexpected("header", "an object") }
        return try EtcdHeader(header)
    }

    /// Has all changes told from a revision on, until that ends.
    ///
    /// - Parameter body: Is called with what one part of the stream says. It may have several lines.
    /// - Throws: ``FetchProblem``, in any case.
    func watch(
        _ prefix: String, from revision: Int, at endpoint: String,
        _ body: ([EtcdWatchMessage]) throws(FetchProblem) -> Void
    ) async throws(FetchProblem) {
        let key = Array(prefix.utf8)
        let request: JSONObject = [
            "create_request": .object([
                "key": Self.base64(key), "range_end": Self.base64(Self.end(of: key)),
                "start_revision": Self.integer(revision), "progress_notify": .scalar(true),
            ])
        ]
        let token = try await token(at: endpoint)
        do {
            let response = try await client.execute(
                message("/v3/watch", request, token, at: endpoint), deadline: .distantFuture)
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
            // The last line, which says why, has no end.
            if !rest.isEmpty { try tell([EtcdWatchMessage(rest)], body) }
        } catch {
            throw FetchProblem(error)
        }
        throw FetchProblem(message: "the watch was ended")
    }

    /// Takes what is there of a line and the newline behind it; `nil` if that is not there.
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
            guard case .ended(let reason) = message else { continue }
            if Self.isTokenRefused(reason) { session.token.withLock { $0 = nil } }
            throw FetchProblem(message: "the watch was ended: \(reason.prefix(300))")
        }
    }

    // MARK: - Requests

    private func ask(
        _ path: String, _ question: JSONObject, at endpoint: String
    ) async throws(FetchProblem) -> EtcdObject {
        do throws(FetchProblem) {
            return try await answer(path, question, try await token(at: endpoint), at: endpoint)
        } catch {
            guard cluster.user != nil, Self.isTokenRefused(error.message) else { throw error }
            // Tokens get old, and a member that was away does not know them.
            session.token.withLock { $0 = nil }
            return try await answer(path, question, try await token(at: endpoint), at: endpoint)
        }
    }

    /// What etcd says of a token that another one helps against.
    private static func isTokenRefused(_ message: String) -> Bool {
        message.contains("invalid auth token") || message.contains("revision in header is old")
    }

    /// Says who we are.
    private func token(at endpoint: String) async throws(FetchProblem) -> String? {
        guard let user = cluster.user else { return nil }
        if let token = session.token.withLock({ $0 }) { return token }
        let password: String?
        do throws(FormatError) { password = try cluster.password() } catch {
            throw FetchProblem(message: "\(error)")
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
        // As the clients of etcd ask for it.
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
            let response = try await client.execute(request, deadline: .distantFuture)
            try await check(response)
            return try await response.bytes(limit: Self.largestAnswer)
        }
        return try EtcdObject(bytes)
    }

    /// Expects what etcd's gateway begins an answer with.
    private func check(_ response: HTTPClientResponse) async throws {
        let type = response.headers.first(name: "content-type") ?? ""
        let isJSON = type.lowercased().split(separator: ";").first == "application/json"
        guard response.status.code == 200 else {
            guard isJSON else { throw FetchProblem(message: "HTTP status \(response.status.code)") }
            let body = try await response.bytes(limit: Self.largestProblem)
            let reason = (try? EtcdObject(body))?.message
            throw FetchProblem(
                message: "HTTP status \(response.status.code)" + (reason.map { ": \($0)" } ?? ""),
                isRefusal: 400..<500 ~= response.status.code && reason != nil)
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

    /// The first key behind all that begin with something.
    static func end(of prefix: [UInt8]) -> [UInt8] {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        // All keys.
        return [0]
    }
}
#endif
