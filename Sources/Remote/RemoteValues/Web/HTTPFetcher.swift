// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import TweakFormats
internal import TweakJSON
internal import TweakRecords
internal import TweakSystem
package import TweakTargeting

/// A file as received from a server.
package struct FetchedFile: Hashable, Sendable {
    package let bytes: [UInt8]
    /// The validators of this state of the file, for conditional requests.
    fileprivate let validators: [String: String]
    /// The request body, because a response is only valid for the same request.
    fileprivate let body: [UInt8]?
}

/// Loads the file of one application, or has an OFREP service evaluate its flags. The result was received completely,
/// is declared as JSON, and is signed if required; nothing else is checked.
package struct HTTPFetcher: Sendable {
    private let application: WebSettings
    let client: OpenedClient
    private let turns: RequestTurns

    /// - Throws: ``FetchProblem`` if the certificates cannot be used.
    package init(_ application: WebSettings, _ resources: SharedResources) throws(FetchProblem) {
        self.application = application
        turns = resources.turns
        client = try resources.client(
            certificates: application.certificates, connect: application.connectTimeout,
            // For silent event streams. The timeout of a check is shorter.
            read: max(application.timeout, EventStreams.patience), decompressed: application.sizeLimit)
    }

    /// Loads the file.
    ///
    /// - Parameters:
    ///   - known: The file loaded before.
    ///   - facts: The facts about this host, for an OFREP service.
    ///   - query: The query string of the event that caused this.
    /// - Returns: `nil` if the file has not changed.
    package func load(
        known: FetchedFile?, facts: HostFacts, query: String = ""
    ) async throws(FetchProblem) -> FetchedFile? {
        var question = Question(
            url: application.url.text, limit: application.sizeLimit, accept: "application/json")
        if let evaluation = application.evaluation {
            question.url = application.url.asking(query)
            question.body = evaluation.body(for: facts)
        }
        // A conditional request must be the same as the one before.
        let known = known?.body == question.body ? known : nil
        question.validators = known?.validators ?? [:]
        let asked = question
        return try await turns.take(at: application.url.server, for: application.timeout) {
            try await loadSigned(asked)
        }
    }

    /// Loads the file and, if required, its signature. If the server is updated between the two, both are loaded once
    /// more.
    private func loadSigned(_ question: Question) async throws(FetchProblem) -> FetchedFile? {
        for isLast in [false, true] {
            guard let file = try await loadFile(question) else { return nil }
            guard let key = application.publicKey else { return file }
            let body: [UInt8]
            do throws(FetchProblem) {
                body =
                    try await answer(
                        Question(
                            url: application.url.adding(Signature.suffix), limit: Signature.largestSize,
                            accept: "*/*")
                    ).body ?? []
            } catch {
                throw FetchProblem(message: "the signature: \(error.message)", retryAfter: error.retryAfter)
            }
            let signature = Signature(text: String(decoding: body, as: UTF8.self))
            if let signature, key.isSignature(signature, of: file.bytes) { return file }
            guard isLast else { continue }
            throw FetchProblem(
                message: signature == nil
                    ? "\(application.url.shown)\(Signature.suffix) is not a signature"
                    : "the signature does not match the file and the key")
        }
        return nil
    }

    private func loadFile(_ question: Question) async throws(FetchProblem) -> FetchedFile? {
        let answer = try await answer(question)
        guard let body = answer.body else { return nil }
        let type = answer.headers.first(name: "content-type") ?? ""
        let mediaType = type.lowercased().split(separator: ";").first.map(String.init) ?? ""
        let name = mediaType.filter { $0 != " " }
        guard name == "application/json" || name == "text/json" || name.hasSuffix("+json") else {
            throw FetchProblem(
                message: type.isEmpty
                    ? "the answer has no content type; application/json is expected"
                    : "the answer is \(type.prefix(80)); application/json is expected")
        }
        var validators: [String: String] = [:]
        if let tag = answer.headers.first(name: "etag") {
            validators["if-none-match"] = tag
        } else if let date = answer.headers.first(name: "last-modified"), HTTPDate(date)?.isPast == true {
            // A date in the future would hide changes until then.
            validators["if-modified-since"] = date
        }
        return FetchedFile(bytes: body, validators: validators, body: question.body)
    }

    /// Adds the configured headers and the token, which are for the configured server only.
    func authorize(_ request: inout HTTPClientRequest) throws(FetchProblem) {
        if let path = application.headersFile {
            let headers: [RequestHeaders.Header]
            do throws(FormatError) { headers = try RequestHeaders(path: path).all } catch {
                throw FetchProblem(message: "\(error)")
            }
            for header in headers { request.headers.remove(name: header.name) }
            for header in headers { request.headers.add(name: header.name, value: header.value) }
        }
        if let token = try token() {
            request.headers.replaceOrAdd(name: "authorization", value: "Bearer \(token)")
        }
    }

    /// The token of an OFREP service, without the trailing newline.
    private func token() throws(FetchProblem) -> String? {
        guard let path = application.evaluation?.tokenFile else { return nil }
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else { throw FetchProblem(message: "\(path): \(systemMessage())") }
        defer { close(descriptor) }
        let bytes = readToEnd(descriptor, limit: 1 << 16) ?? []
        let isSpace = { (byte: UInt8) in byte <= 0x20 }
        let token = bytes.reversed().drop(while: isSpace).reversed().drop(while: isSpace)
        guard !token.isEmpty, token.allSatisfy({ 0x21..<0x7F ~= $0 }) else {
            throw FetchProblem(message: "\(path): the file contains no token, a line of visible characters")
        }
        return String(decoding: token, as: UTF8.self)
    }

    /// A request.
    private struct Question {
        var url: String
        let limit: Int
        let accept: String
        var validators: [String: String] = [:]
        /// The body of a POST request; `nil` to GET a file.
        var body: [UInt8]?
    }

    private struct Answer {
        let headers: HTTPHeaders
        /// `nil` if the file has not changed.
        let body: [UInt8]?
    }

    private func answer(_ question: Question) async throws(FetchProblem) -> Answer {
        var url = question.url
        for redirects in 0...application.redirects {
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "user-agent", value: "tweak-agent")
            request.headers.add(name: "accept", value: question.accept)
            request.headers.add(name: "accept-encoding", value: "gzip")
            for (name, value) in question.validators { request.headers.add(name: name, value: value) }
            if let body = question.body {
                request.method = .POST
                request.headers.add(name: "content-type", value: "application/json")
                request.body = .bytes(body)
            }
            // Never for servers that it redirects to.
            if isOwn(url) { try authorize(&request) }
            do {
                let response = try await client.execute(request)
                switch response.status.code {
                case 200:
                    let body = try await body(of: response, question.limit)
                    return Answer(headers: response.headers, body: body)
                case 304 where !question.validators.isEmpty:
                    return Answer(headers: response.headers, body: nil)
                case 301, 302, 303, 307, 308:
                    let location = response.headers.first(name: "location") ?? ""
                    guard redirects < application.redirects else {
                        throw FetchProblem(
                            message: "the server redirects to "
                                + "\"\(RemoteURL.shown(location).prefix(200))\", but "
                                + (application.redirects == 0
                                    ? "redirects are not followed"
                                    : "only \(application.redirects) redirects are followed"))
                    }
                    // For the other status codes, a client would send a GET request.
                    guard question.body == nil || [307, 308].contains(response.status.code) else {
                        throw FetchProblem(
                            message:
                                "it is redirected with HTTP status \(response.status.code), which is not "
                                + "valid for a POST request")
                    }
                    url = try target(location, of: url)
                default:
                    let said = question.body == nil ? nil : await said(in: response)
                    throw FetchProblem(
                        message: "HTTP status \(response.status.code)" + (said.map { ": " + $0 } ?? ""),
                        retryAfter: response.headers.first(name: "retry-after").flatMap(Self.pause))
                }
            } catch {
                throw FetchProblem(error)
            }
        }
        // The last iteration has returned or thrown.
        throw FetchProblem(message: "there are too many redirects")
    }

    /// Returns whether a URL has the configured server.
    func isOwn(_ url: String) -> Bool {
        RemoteURL.server(of: url) == application.url.server
    }

    private func target(_ location: String, of url: String) throws(FetchProblem) -> String {
        guard let target = URL(string: location, relativeTo: URL(string: url))?.absoluteString,
            let scheme = target.split(separator: ":").first?.lowercased(), ["https", "http"].contains(scheme)
        else {
            throw FetchProblem(
                message: "the server redirects to \"\(RemoteURL.shown(location).prefix(200))\"")
        }
        guard scheme == "https" || application.plainHTTP else {
            throw FetchProblem(
                message:
                    "the server redirects to \"\(RemoteURL.shown(target).prefix(200))\", which does not "
                    + "use TLS")
        }
        return target
    }

    /// The error message of an OFREP service.
    private func said(in response: HTTPClientResponse) async -> String? {
        guard let body = try? await body(of: response, 1 << 14),
            case .object(let error)? = try? JSONParser.value(of: body)
        else { return nil }
        let texts = ["errorCode", "errorDetails"].compactMap { name -> String? in
            if case .scalar(.string(let text))? = error[name] { String(text.prefix(200)) } else { nil }
        }
        return texts.isEmpty ? nil : texts.joined(separator: ": ")
    }

    /// Reads a body, which the client has decompressed if it was compressed with gzip.
    private func body(of response: HTTPClientResponse, _ limit: Int) async throws -> [UInt8] {
        if let encoding = response.headers.first(name: "content-encoding"),
            !["identity", "gzip"].contains(encoding.lowercased())
        {
            throw FetchProblem(
                message: "the answer is encoded as \(encoding.prefix(40)), which was not requested")
        }
        return try await response.bytes(limit: limit)
    }

    /// Parses a `Retry-After` header: seconds, or a date.
    package static func pause(_ text: String) -> Duration? {
        let text = text.split(separator: " ").joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            return .seconds(Int(text) ?? .max / 1_000_000_000)
        }
        return HTTPDate(text).map { max(.zero, $0.fromNow) }
    }
}

/// A date in HTTP headers: `Sun, 22 Nov 2026 17:00:00 GMT`.
///
/// Source: RFC 9110, section 5.6.7; the two obsolete forms are not supported.
struct HTTPDate {
    private let time: time_t

    init?(_ text: String) {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let day = Int32(parts[1]), 1...31 ~= day,
            let month = months.firstIndex(of: String(parts[2])), let year = Int32(parts[3]),
            1970...9999 ~= year
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int32($0) }
        guard clock.count == 3, 0...23 ~= clock[0], 0...59 ~= clock[1], 0...60 ~= clock[2] else { return nil }
        var date = tm()
        (date.tm_year, date.tm_mon, date.tm_mday) = (year - 1900, Int32(month), day)
        (date.tm_hour, date.tm_min, date.tm_sec) = (clock[0], clock[1], clock[2])
        time = timegm(&date)
    }

    var isPast: Bool { fromNow <= .zero }
    var fromNow: Duration { .seconds(time) - .since1970 }
}
#endif
