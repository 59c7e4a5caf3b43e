// SPDX-License-Identifier: BSD-3-Clause
#if UI
import CommandSupport
import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import TweakJSON

/// An error in a request.
struct RequestProblem: Error {
    let status: HTTPResponse.Status
    let message: String
    var nearest: [String] = []

    init(_ status: HTTPResponse.Status, _ message: String) { (self.status, self.message) = (status, message) }

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
    let authentication: Authentication
    let api: PageRequests

    /// The size limits of bodies.
    private static let (mostOfImport, most, mostOfToken) = (16 << 20, 1 << 20, 4 << 10)

    @Sendable func respond(to request: Request, _ context: PageContext) async -> Response {
        do throws(RequestProblem) {
            return try await answer(request, context)
        } catch {
            var response = json(RequestProblem.Form(error: .init(message: error.message)), error.status)
            // The rest of the request is not read.
            if request.method == .post { response.headers[.connection] = "close" }
            return response
        }
    }

    private func answer(_ request: Request, _ context: PageContext) async throws(RequestProblem) -> Response {
        guard let host = request.head.authority, origins.takes(host: host) else {
            throw RequestProblem(.forbidden, "this is not a name of this page's server")
        }
        if let origin = request.headers[.origin], !origins.takes(origin: origin, of: host) {
            throw RequestProblem(.forbidden, "requests of other sites are refused")
        }
        let path = request.uri.path
        guard path.hasPrefix("/api/") else { return try asset(path, request) }
        let site = HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] } ?? "none"
        guard ["same-origin", "none"].contains(site) else {
            throw RequestProblem(.forbidden, "requests of other sites are refused")
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
        let body = try await body(of: request, upTo: name == "import" ? Self.mostOfImport : Self.most)
        let answer = try await api.answer(name, body)
        return Response(
            request, Self.headers(of: "application/json"), answer, compressed: gzipped(answer))
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
        guard let asset = Asset.at(path), !asset.isOfFleet || api.fleet != nil else {
            throw RequestProblem(.notFound, "there is no such file")
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

    private func json(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) -> Response {
        let bytes = (try? pageJSON(value)) ?? []
        return Response(
            status: status, headers: Self.headers(of: "application/json"),
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private static func headers(of type: String) -> HTTPFields {
        var headers = headers
        headers[.contentType] = type
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
