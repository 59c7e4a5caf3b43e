#if Remote
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import TweakJSON
internal import TweakRecords
internal import TweakSystem
package import TweakTargeting

/// A file as a server has sent it.
package struct FetchedFile: Hashable, Sendable {
    package let bytes: [UInt8]
    /// What the server names this state of the file by, for the next request.
    fileprivate let validators: [String: String]
    /// What was asked: the answer to something else is not this one.
    fileprivate let body: [UInt8]?
}

/// Loads the file of one application, or has an OFREP service evaluate its flags. What it returns was sent whole, as JSON,
/// and is signed if that is asked for; nothing else is known of it.
package struct HTTPFetcher: Sendable {
    private let application: WebSettings
    private let opened: OpenedClient
    var client: HTTPClient { opened.current }

    private let turns: RequestTurns

    /// - Throws: ``FetchProblem`` if the certificates cannot be used.
    package init(_ application: WebSettings, _ resources: SharedResources) throws(FetchProblem) {
        self.application = application
        turns = resources.turns
        opened = try resources.client(
            certificates: application.certificates, connect: application.connectTimeout,
            // Of a stream of events that says nothing. A check ends earlier.
            read: max(application.timeout, EventStreams.patience))
    }

    /// Loads the file.
    ///
    /// - Parameters:
    ///   - known: What was loaded before.
    ///   - facts: What an OFREP service is told of this host.
    ///   - query: What it is told of the event that made this necessary.
    /// - Returns: `nil` if that is what the server still has.
    package func load(
        known: FetchedFile?, facts: HostFacts, query: String = ""
    ) async throws(FetchProblem) -> FetchedFile? {
        var question = Question(
            url: application.url.text, limit: application.sizeLimit, accept: "application/json")
        if let evaluation = application.evaluation {
            question.url += query
            question.body = evaluation.body(for: facts)
            question.token = try token()
        }
        // What is not modified is the answer to the same question.
        let known = known?.body == question.body ? known : nil
        question.validators = known?.validators ?? [:]
        let asked = question
        return try await turns.take(at: application.url.server, for: application.timeout) {
            try await loadSigned(asked)
        }
    }

    /// Loads the file and, if that must be there, its signature. Between the two the server may get new ones, which does not
    /// happen twice.
    private func loadSigned(_ question: Question) async throws(FetchProblem) -> FetchedFile? {
        for isLast in [false, true] {
            guard let file = try await loadFile(question) else { return nil }
            guard let key = application.publicKey else { return file }
            let body: [UInt8]
            do throws(FetchProblem) {
                body =
                    try await answer(
                        Question(
                            url: application.url.text + Signature.suffix, limit: Signature.largestSize,
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
                    ? "what is at \(application.url.text)\(Signature.suffix) is not a signature"
                    : "the signature is not one of this file with this key")
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
            // A date that is yet to come says nothing about what changes until then.
            validators["if-modified-since"] = date
        }
        return FetchedFile(bytes: body, validators: validators, body: question.body)
    }

    /// The token that an OFREP service wants, without the newline at its end.
    func token() throws(FetchProblem) -> String? {
        guard let path = application.evaluation?.tokenFile else { return nil }
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else { throw FetchProblem(message: "\(path): \(systemMessage())") }
        defer { close(descriptor) }
        let bytes = readToEnd(descriptor, limit: 1 << 16) ?? []
        let isSpace = { (byte: UInt8) in byte <= 0x20 }
        let token = bytes.reversed().drop(while: isSpace).reversed().drop(while: isSpace)
        guard !token.isEmpty, token.allSatisfy({ 0x21..<0x7F ~= $0 }) else {
            throw FetchProblem(message: "\(path): there is no token, a line of visible characters")
        }
        return String(decoding: token, as: UTF8.self)
    }

    /// What is asked.
    private struct Question {
        var url: String
        let limit: Int
        let accept: String
        var validators: [String: String] = [:]
        /// `nil` for a file, which is got.
        var body: [UInt8]?
        var token: String?
    }

    private struct Answer {
        let headers: HTTPHeaders
        /// `nil` if nothing has changed.
        let body: [UInt8]?
    }

    private func answer(_ question: Question) async throws(FetchProblem) -> Answer {
        var url = question.url
        for redirects in 0...application.redirects {
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "user-agent", value: "tweak-agent")
            request.headers.add(name: "accept", value: question.accept)
            for (name, value) in question.validators { request.headers.add(name: name, value: value) }
            if let body = question.body {
                request.method = .POST
                request.headers.add(name: "content-type", value: "application/json")
                request.body = .bytes(body)
            }
            // It is for the service that the configuration names, and for nobody to whom that redirects.
            if let token = question.token, isOwn(url) {
                request.headers.add(name: "authorization", value: "Bearer \(token)")
            }
            do {
                let response = try await client.execute(request, deadline: .distantFuture)
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
                            message: "it is redirected to \"\(location.prefix(200))\", and "
                                + (application.redirects == 0
                                    ? "no redirect is followed"
                                    : "only \(application.redirects) redirects are followed"))
                    }
                    // With the others a client asks for a file there.
                    guard question.body == nil || [307, 308].contains(response.status.code) else {
                        throw FetchProblem(
                            message:
                                "it is redirected with HTTP status \(response.status.code), which is not for "
                                + "what is posted")
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
        // The last turn has returned or thrown.
        throw FetchProblem(message: "there are too many redirects")
    }

    /// Whether an address is at the server that the configuration names.
    func isOwn(_ url: String) -> Bool {
        RemoteURL.server(of: url) == application.url.server
    }

    private func target(_ location: String, of url: String) throws(FetchProblem) -> String {
        guard let target = URL(string: location, relativeTo: URL(string: url))?.absoluteString,
            let scheme = target.split(separator: ":").first?.lowercased(), ["https", "http"].contains(scheme)
        else { throw FetchProblem(message: "it is redirected to \"\(location.prefix(200))\"") }
        guard scheme == "https" || application.plainHTTP else {
            throw FetchProblem(message: "it is redirected to \"\(target.prefix(200))\", which is without TLS")
        }
        return target
    }

    /// What an OFREP service says that is wrong.
    private func said(in response: HTTPClientResponse) async -> String? {
        guard let body = try? await body(of: response, 1 << 14),
            case .object(let error)? = try? JSONParser.value(of: body)
        else { return nil }
        let texts = ["errorCode", "errorDetails"].compactMap { name -> String? in
            if case .scalar(.string(let text))? = error[name] { String(text.prefix(200)) } else { nil }
        }
        return texts.isEmpty ? nil : texts.joined(separator: ": ")
    }

    /// Reads a body that is sent as it is.
    private func body(of response: HTTPClientResponse, _ limit: Int) async throws -> [UInt8] {
        if let encoding = response.headers.first(name: "content-encoding"),
            encoding.lowercased() != "identity"
        {
            throw FetchProblem(
                message: "the answer is encoded as \(encoding.prefix(40)), which was not asked for")
        }
        return try await response.bytes(limit: limit)
    }

    /// What a server asks for: seconds, or a date.
    package static func pause(_ text: String) -> Duration? {
        let text = text.split(separator: " ").joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            return .seconds(Int(text) ?? .max / 1_000_000_000)
        }
        return HTTPDate(text).map { max(.zero, $0.fromNow) }
    }
}

/// A date as servers send it: `Sun, 22 Nov 2026 17:00:00 GMT`.
///
/// Source: RFC 9110, section 5.6.7; the two obsolete forms are not read.
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
