// SPDX-License-Identifier: BSD-3-Clause
#if UI
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// Compresses bytes with gzip.
///
/// The compressor is a channel handler. It runs in an embedded channel, because in a real one it would end the process
/// when the response to a malformed request passes through it without the request.
///
/// - Returns: `nil` if compression does not pay.
func gzipped(_ bytes: [UInt8]) -> [UInt8]? {
    // A single packet does not arrive sooner when compressed.
    guard bytes.count > 1400 else { return nil }
    let channel = EmbeddedChannel(handler: HTTPResponseCompressor())
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    var result: [UInt8] = []
    do {
        let request = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/", headers: ["Accept-Encoding": "gzip"])
        try channel.writeInbound(HTTPServerRequestPart.head(request))
        let answer = HTTPResponseHead(version: .http1_1, status: .ok)
        for part in [
            HTTPServerResponsePart.head(answer), .body(.byteBuffer(ByteBuffer(bytes: bytes))), .end(nil),
        ] {
            try channel.writeOutbound(part)
        }
        while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
            if case .body(.byteBuffer(let buffer)) = part { result += buffer.readableBytesView }
        }
    } catch {
        return nil
    }
    return result.count < bytes.count && !result.isEmpty ? result : nil
}

extension Request {
    /// Whether the client accepts gzip.
    var takesGzip: Bool {
        (headers[.acceptEncoding] ?? "").split(separator: ",").contains { coding in
            let parts = coding.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
            return parts.first == "gzip" && !parts.dropFirst().contains { Double($0.dropFirst(2)) == 0 }
        }
    }
}

extension Response {
    /// A successful response, compressed if the client accepts that.
    init(_ request: Request, _ headers: HTTPFields, _ bytes: [UInt8], compressed: @autoclosure () -> [UInt8]?)
    {
        var headers = headers
        headers[.vary] = "Accept-Encoding"
        var body = bytes
        if request.takesGzip, let compressed = compressed() {
            headers[.contentEncoding] = "gzip"
            body = compressed
        }
        guard request.method != .head else {
            headers[.contentLength] = "\(body.count)"
            self.init(status: .ok, headers: headers)
            return
        }
        self.init(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
#endif
