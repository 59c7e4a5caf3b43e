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
import TweakRecords

/// Answers OFREP requests of OpenFeature SDKs, and requests for metrics.
///
/// Source: OFREP 0.3, the OpenAPI document, and its decision record 8 for the event stream.
struct FlagServer: Sendable {
    let origins: Origins
    /// Whether to accept only the names of this machine. From outside, a server may have names that it does not know.
    let checksHost: Bool
    /// Whether to serve metrics, too.
    let hasMetrics: Bool
    let program: FlagProgram
    /// The token that clients send; `nil` if there is no authentication.
    let token: String?
    /// The secret in the URL of the event stream, because EventSource in a browser sends no headers. It reveals when
    /// something changes, but not what.
    private let streamKey = Authentication.random()

    private static let flagsPath = "/ofrep/v1/evaluate/flags"
    private static let eventsPath = "/ofrep/v1/events"
    private static let metricsPath = "/metrics"
    private static let mostBytes = 1 << 20

    init(origins: Origins, checksHost: Bool, hasMetrics: Bool, program: FlagProgram, token: String?) {
        (self.origins, self.checksHost, self.hasMetrics) = (origins, checksHost, hasMetrics)
        (self.program, self.token) = (program, token)
    }

    @Sendable func respond(to request: Request, _ context: PageContext) async -> Response {
        do throws(Refusal) { return try await answer(request, context) } catch {
            var headers = Self.headers
            for (name, value) in error.headers { headers[name] = value }
            // The rest of the request is not read. Here it has been read.
            if ![.notFound, .serviceUnavailable].contains(error.status) { headers[.connection] = "close" }
            return Self.json(error.evaluation.json, error.status, headers)
        }
    }

    /// An error in a request.
    private struct Refusal: Error {
        let status: HTTPResponse.Status
        let evaluation: Evaluation
        var headers: [HTTPField.Name: String] = [:]

        init(
            _ status: HTTPResponse.Status, _ details: String, _ code: String = "GENERAL", key: String? = nil,
            headers: [HTTPField.Name: String] = [:]
        ) {
            (self.status, self.headers) = (status, headers)
            evaluation = Evaluation(error: code, details, key: key)
        }
    }

    private func answer(_ request: Request, _ context: PageContext) async throws(Refusal) -> Response {
        guard let host = request.head.authority, !checksHost || origins.takes(host: host) else {
            throw Refusal(.forbidden, "this is not a name of this server")
        }
        if let origin = request.headers[.origin], !origins.takes(origin: origin, of: host) {
            throw Refusal(.forbidden, "requests of other sites are refused")
        }
        let path = request.uri.path
        if path == Self.eventsPath { return try await events(request, context.channel) }
        guard isAllowed(request) else {
            throw Refusal(
                .unauthorized, "the token is missing or wrong: Authorization: Bearer …",
                headers: [.wwwAuthenticate: "Bearer"])
        }
        try await admit(context.channel)
        if hasMetrics, path == Self.metricsPath { return try await metrics(request) }
        let isBulk = path == Self.flagsPath || path == Self.flagsPath + "/"
        guard isBulk || path.hasPrefix(Self.flagsPath + "/") else {
            throw Refusal(.notFound, "OFREP has \(Self.flagsPath) and \(Self.flagsPath)/{key}")
        }
        guard request.method == .post else {
            throw Refusal(.methodNotAllowed, "use POST for flags", headers: [.allow: "POST"])
        }
        let written = String(path.dropFirst(Self.flagsPath.count + 1))
        let key = isBulk ? nil : String(percentEncoded: written) ?? written
        try await readContext(request, key)
        let flags: Flags
        do throws(FlagProblem) { flags = try await program.flags() } catch {
            throw Refusal(.serviceUnavailable, error.message, key: key)
        }
        guard let key else { return bulk(flags, request, host) }
        // A client may not have encoded a percent sign in a name.
        guard let evaluation = flags.evaluation(of: key) ?? flags.evaluation(of: written) else {
            throw Refusal(.notFound, "no such tweak: \(key.prefix(200))", "FLAG_NOT_FOUND", key: key)
        }
        return Self.json(evaluation.json, evaluation.isError ? .badRequest : .ok)
    }

    private func isAllowed(_ request: Request) -> Bool {
        guard let token else { return true }
        let scheme = "Bearer "
        let given = [
            request.headers[.authorization].flatMap {
                $0.hasPrefix(scheme) ? $0.dropFirst(scheme.count) : nil
            },
            HTTPField.Name("X-API-Key").flatMap { request.headers[$0] }.map { $0[...] },
        ]
        return given.contains { $0.map { Authentication.isSame($0, token) } ?? false }
    }

    /// Reads the body, and ignores it: the context does not affect the tweaks of a program.
    private func readContext(_ request: Request, _ key: String?) async throws(Refusal) {
        let tooLarge = Refusal(.contentTooLarge, "a request has at most \(Self.mostBytes) bytes", key: key)
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > Self.mostBytes {
            throw tooLarge
        }
        let body: [UInt8]
        do {
            body = Array((try await request.body.collect(upTo: Self.mostBytes)).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        } catch {
            throw Refusal(.badRequest, "the request is incomplete", "PARSE_ERROR", key: key)
        }
        guard case .object(let root)? = try? JSONParser.value(of: body) else {
            throw Refusal(.badRequest, "the request is not a JSON object", "PARSE_ERROR", key: key)
        }
        switch root["context"] {
        case nil, .null?: return
        case .object(let context)?:
            switch context["targetingKey"] {
            case nil, .null?, .scalar(.string)?: return
            default: throw Refusal(.badRequest, "targetingKey is not a text", "INVALID_CONTEXT", key: key)
            }
        default: throw Refusal(.badRequest, "context is not an object", "INVALID_CONTEXT", key: key)
        }
    }

    private func bulk(_ flags: Flags, _ request: Request, _ host: String) -> Response {
        var headers = Self.headers
        headers[.eTag] = flags.tag
        let known = (request.headers[.ifNoneMatch] ?? "").split(separator: ",").map { tag in
            let tag = tag.filter { $0 != " " }
            return tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
        }
        if known.contains(flags.tag) { return Response(status: .notModified, headers: headers) }
        let stream: JSONObject = [
            "type": .scalar(.string("sse")),
            "url": .scalar(
                .string("\(origins.scheme)://\(host)\(Self.eventsPath)?key=\(streamKey)")),
        ]
        let body = object([
            ("flags", flags.all), ("eventStreams", JSONValue.array([.object(stream)]).json()),
        ])
        return Self.json(body, .ok, headers)
    }

    // MARK: - Metrics

    private func metrics(_ request: Request) async throws(Refusal) -> Response {
        guard request.method == .get || request.method == .head else {
            throw Refusal(.methodNotAllowed, "use GET for metrics", headers: [.allow: "GET, HEAD"])
        }
        // A scraper that knows OpenMetrics prefers it.
        let takesOpenMetrics = request.headers[.accept]?.contains("application/openmetrics-text") ?? false
        let format: TweakMetrics.Format = takesOpenMetrics ? .openMetrics : .prometheus
        let text = await program.metrics(format)
        var headers = Self.headers
        headers[.contentType] = format.contentType
        return Response(request, headers, text, compressed: gzipped(text))
    }

    // MARK: - The event stream

    /// The minimum interval between events, and the heartbeat interval.
    private static let (period, heartbeat): (Duration, Duration) = (.milliseconds(100), .seconds(15))
    /// The longest time that a client may block the stream.
    private static let patience: TimeAmount = .seconds(60)

    private func admit(_ channel: any Channel) async throws(Refusal) {
        guard await channel.isAdmitted() else {
            throw Refusal(.serviceUnavailable, "all \(ConnectionLimits.mostKnown) connections are in use")
        }
    }

    private func events(_ request: Request, _ channel: any Channel) async throws(Refusal) -> Response {
        guard Authentication.isSame(request.uri.queryParameters["key"] ?? "", streamKey) else {
            throw Refusal(.unauthorized, "use the URL of the stream in the answer for all flags")
        }
        guard request.method == .get else {
            throw Refusal(.methodNotAllowed, "use GET for events", headers: [.allow: "GET"])
        }
        try await admit(channel)
        guard let stream = program.open() else {
            let most = Board.mostStreams - 1
            throw Refusal(
                .tooManyRequests, "\(most) streams are open", headers: [.retryAfter: "60"])
        }
        channel.closeFuture.whenComplete { [program] _ in
            stream.add { $0.isEnding = true }
            program.close(stream)
        }
        var headers = Self.headers
        headers[.contentType] = "text/event-stream"
        let last = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { [program] writer in
                defer { program.close(stream) }
                try await tell(stream, last, channel, &writer)
                try await writer.finish(nil)
            })
    }

    /// Announces flags with another tag, including changes made before the stream was opened.
    private func tell(
        _ stream: EventStream, _ last: String?, _ channel: any Channel, _ writer: inout any ResponseBodyWriter
    ) async throws {
        var last = last
        let beat = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: Self.heartbeat)
                stream.add { $0.isBeat = true }
            }
        }
        defer { beat.cancel() }
        // The headers are sent with the first chunk.
        try await write(":\n\n", channel, &writer)
        stream.add { _ in }
        for await _ in stream.signal {
            guard let (tag, isBeat) = await program.next(stream) else { return }
            if let tag, tag != last {
                let data: JSONObject = [
                    "type": .scalar(.string("refetchEvaluation")), "etag": .scalar(.string(tag)),
                ]
                let json = String(decoding: JSONValue.object(data).json(), as: UTF8.self)
                try await write("id: \(tag)\ndata: \(json)\n\n", channel, &writer)
                last = tag
            } else if isBeat {
                try await write(":\n\n", channel, &writer)
            }
            try await Task.sleep(for: Self.period)
        }
    }

    private func write(
        _ text: String, _ channel: any Channel, _ writer: inout any ResponseBodyWriter
    ) async throws {
        let deadline = channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        defer { deadline.cancel() }
        try await writer.write(ByteBuffer(string: text))
    }

    // MARK: - Parts

    private static func json(
        _ body: [UInt8], _ status: HTTPResponse.Status, _ headers: HTTPFields = headers
    ) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }

    private static let headers: HTTPFields = {
        var headers = HTTPFields()
        headers[.cacheControl] = "no-store"
        headers[.xContentTypeOptions] = "nosniff"
        return headers
    }()
}
#endif
