// SPDX-License-Identifier: BSD-3-Clause
#if UI
import CommandSupport
import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import TweakClient
import TweakJSON
import TweakProtocol
import TweakRecords

/// An error in a request.
struct RequestProblem: Error {
    let status: HTTPResponse.Status
    let message: String
    /// What to do about it, as a sentence.
    var advice: String?
    var nearest: [String] = []

    init(_ status: HTTPResponse.Status, _ message: String, advice: String? = nil) {
        (self.status, self.message, self.advice) = (status, message, advice)
    }

    init(_ failure: Failure) {
        status =
            switch failure.kind {
            case .missing: .notFound
            case .invalid, .forbidden: .conflict
            case .usage: .badRequest
            case .unavailable, .garbled: .badGateway
            case .busy: .gatewayTimeout
            default: .internalServerError
            }
        message = ([failure.message] + failure.details).joined(separator: "\n")
    }

    struct Form: Encodable {
        struct Problem: Encodable { let message: String }
        let error: Problem
    }
}

/// The context of a request, with its connection.
struct PageContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Handles the HTTP requests of pages.
struct PageServer: Sendable {
    let origins: Origins
    let path: PagePath
    let authentication: Authentication
    let api: PageRequests

    /// The size limits of bodies.
    private static let (mostOfImport, most, mostOfToken) = (16 << 20, 1 << 20, 4 << 10)

    @Sendable func respond(to request: Request, _ context: PageContext) async -> Response {
        do throws(RequestProblem) {
            return try await answer(request, context)
        } catch {
            var response = refusal(error, request)
            // The rest of the request is not read.
            if request.method == .post { response.headers[.connection] = "close" }
            return response
        }
    }

    private func answer(_ request: Request, _ context: PageContext) async throws(RequestProblem) -> Response {
        let host = request.head.authority ?? ""
        guard origins.takes(host: host) else {
            throw RequestProblem(
                .forbidden, "\"\(host.prefix(200))\" is not a name of this server",
                advice: Origins.name(in: host.lowercased()).map { name in
                    "Open the address that tweak ui printed, or if \(name) is your own name for this server, restart tweak "
                        + "ui with --name \(name)."
                })
        }
        if let origin = request.headers[.origin], !origins.takes(origin: origin, of: host) {
            throw RequestProblem(
                .forbidden,
                "requests of other sites are refused: this one is from \(origin.prefix(200)) to \(host.prefix(200))",
                advice: Origins.authority(in: origin.lowercased()).map { site in
                    "If \(site.prefix(200)) is your own reverse proxy, restart tweak ui with --name \(site.prefix(200))."
                })
        }
        guard let path = path.rest(of: request.uri.path) else {
            if let address = path.address(from: request.uri.path), request.method == .get {
                var headers = Self.headers
                headers[.location] = address
                return Response(status: .temporaryRedirect, headers: headers)
            }
            throw RequestProblem(.notFound, "nothing is served here", advice: "The page is at \(path.text).")
        }
        guard path.hasPrefix("/api/") else { return try asset(path, request) }
        let site = HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] } ?? "none"
        guard ["same-origin", "none"].contains(site) else {
            throw RequestProblem(
                .forbidden, "requests of other sites are refused",
                advice: "Open the address that tweak ui printed.")
        }
        let name = String(path.dropFirst("/api/".count))
        if name == "events" {
            guard request.method == .get else {
                throw RequestProblem(.methodNotAllowed, "use GET for events")
            }
            try await checkSession(request, context)
            return try api.events(context.channel, headers: Self.headers)
        }
        guard request.method == .post else {
            throw RequestProblem(.methodNotAllowed, "use POST for requests")
        }
        guard let type = request.headers[.contentType],
            type == "application/json" || type.hasPrefix("application/json;")
        else {
            throw RequestProblem(.unsupportedMediaType, "a request must be JSON")
        }
        if name == "session" { return try await session(request, context) }
        try await checkSession(request, context)
        let sent = try SendingTime(request.headers)
        let person = try Self.person(request.headers)
        let body = try await body(of: request, upTo: name == "import" ? Self.mostOfImport : Self.most)
        if let problem = sent?.problem { throw RequestProblem(.preconditionFailed, problem) }
        let answer = try await SendingTime.$current.withValue(sent) {
            await Connection.$person.withValue(person) {
                () async -> Result<[UInt8], RequestProblem> in
                do throws(RequestProblem) {
                    return .success(try await api.answer(name, body))
                } catch { return .failure(error) }
            }
        }.get()
        return Response(
            request, Self.headers(of: "application/json"), answer, compressed: gzipped(answer))
    }

    /// The name of the person in front of the page, in a percent-encoded field; `nil` without it.
    private static func person(_ headers: HTTPFields) throws(RequestProblem) -> String? {
        guard let text = HTTPField.Name("Tweaks-Person").flatMap({ headers[$0] }) else { return nil }
        guard let name = String(percentEncoded: text), 1...ControlLimits.personSize ~= name.utf8.count else {
            throw RequestProblem(
                .badRequest, "Tweaks-Person is a name of at most \(ControlLimits.personSize) bytes")
        }
        return name
    }

    private func session(_ request: Request, _ context: PageContext) async throws(RequestProblem) -> Response
    {
        struct Exchange: Decodable { let token: String }
        let body = try await body(of: request, upTo: Self.mostOfToken)
        guard let exchange = try? decodeJSON(Exchange.self, from: body) else {
            throw RequestProblem(.badRequest, "send the token to get a session")
        }
        guard let session = authentication.session(for: exchange.token) else {
            throw RequestProblem(.unauthorized, "wrong token; open the address that tweak ui printed")
        }
        try await admit(context)
        return json(["session": session])
    }

    private func admit(_ context: PageContext) async throws(RequestProblem) {
        guard await context.channel.isAdmitted() else {
            throw RequestProblem(
                .serviceUnavailable, "all \(ConnectionLimits.mostKnown) connections are in use")
        }
    }

    private func checkSession(_ request: Request, _ context: PageContext) async throws(RequestProblem) {
        let scheme = "Bearer "
        guard let header = request.headers[.authorization], header.hasPrefix(scheme),
            authentication.isSession(header.dropFirst(scheme.count))
        else {
            throw RequestProblem(
                .unauthorized, "missing or invalid session; open the address that tweak ui printed")
        }
        try await admit(context)
    }

    private func body(of request: Request, upTo most: Int) async throws(RequestProblem) -> [UInt8] {
        let tooLarge = RequestProblem(.contentTooLarge, "a request has at most \(most) bytes")
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > most { throw tooLarge }
        do {
            return Array((try await request.body.collect(upTo: most)).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        } catch {
            throw RequestProblem(.badRequest, "the request is incomplete")
        }
    }

    // MARK: - Responses

    private func asset(_ path: String, _ request: Request) throws(RequestProblem) -> Response {
        guard request.method == .get || request.method == .head else {
            throw RequestProblem(.methodNotAllowed, "use GET for files")
        }
        guard let asset = Asset.at(path) else {
            throw RequestProblem(
                .notFound, "no such file", advice: "The page is at \(self.path.text).")
        }
        guard !asset.isOfFleet || api.fleet != nil else {
            throw RequestProblem(
                .notFound, "the page shows no fleet", advice: "Restart tweak ui with --fleet to see it.")
        }
        var headers = Self.headers(of: asset.contentType)
        headers[.eTag] = asset.tag
        headers[.cacheControl] = asset.isForGood ? "private, max-age=31536000, immutable" : "no-cache"
        if request.headers[.ifNoneMatch]?.split(separator: ",").contains(where: {
            $0.filter { $0 != " " } == asset.tag
        }) == true {
            return Response(status: .notModified, headers: headers)
        }
        return Response(request, headers, asset.bytes, compressed: asset.compressed)
    }

    /// The response to a refused request: for a person who opened an address a page, and JSON for scripts.
    private func refusal(_ problem: RequestProblem, _ request: Request) -> Response {
        guard request.headers[.accept]?.contains("text/html") == true else {
            let message = problem.message + (problem.advice.map { ". " + $0 } ?? "")
            return json(RequestProblem.Form(error: .init(message: message)), problem.status)
        }
        let reason = problem.message.prefix(1).uppercased() + problem.message.dropFirst() + "."
        let paragraphs = [reason, problem.advice].compactMap(\.self).map { "<p>\(Self.escaped($0))</p>\n" }
        let page = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>Tweaks: \(problem.status.code)</title>
            <h1>Cannot show this page</h1>
            \(paragraphs.joined())
            """
        return Response(
            status: problem.status, headers: Self.headers(of: "text/html; charset=utf-8"),
            body: request.method == .head ? .init() : .init(byteBuffer: ByteBuffer(string: page)))
    }

    private static func escaped(_ text: String) -> String {
        let entities: [Character: String] = [
            "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
        ]
        return text.map { entities[$0] ?? String($0) }.joined()
    }

    private func json(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) -> Response {
        let bytes = (try? pageJSON(value)) ?? []
        return Response(
            status: status, headers: Self.headers(of: "application/json"),
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func headers(of type: String) -> HTTPFields {
        var headers = headers
        headers[.contentType] = type
        if let time = SendingTime.field { headers[time] = "\(SendingTime.now)" }
        return headers
    }

    /// The headers of every response: nothing from outside this program is run or loaded, and no other site embeds it.
    private static let headers: HTTPFields = {
        var headers = HTTPFields()
        let all = [
            "Cache-Control": "no-store",
            "Content-Security-Policy": """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
            manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
            require-trusted-types-for 'script'; trusted-types 'none'
            """,
            "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Embedder-Policy": "require-corp",
            "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        ]
        for (name, value) in all {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return headers
    }()
}
#endif
