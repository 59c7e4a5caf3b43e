// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import AsyncHTTPClient
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOPosix
internal import NIOSSL
internal import TweakSystem

/// An error in loading values, in terms of the server's behaviour.
package struct FetchProblem: Error, Hashable {
    package let message: String
    /// The pause that the server requested.
    package var retryAfter: Duration?
    /// The maximum time until the next read.
    package var retryWithin: Duration?
    /// Whether the server understood the request and refused it.
    package var isRefusal = false
    /// Whether the answer had too many bytes.
    package var isTooLarge = false
    /// Whether it stays until somebody changes the configuration or the server: a password, a certificate, a large value.
    package var isLasting = false
    /// Whether the server only has something older than what is known.
    package var isOlder = false
    /// The code of an error of etcd.
    package var code: EtcdCode?

    /// Part of the message if ``isOlder``.
    static let older = "what is older is not believed"

    package init(
        message: String, retryAfter: Duration? = nil, retryWithin: Duration? = nil, isRefusal: Bool = false,
        isTooLarge: Bool = false, isLasting: Bool = false, isOlder: Bool = false, code: EtcdCode? = nil
    ) {
        (self.message, self.retryAfter, self.retryWithin) = (message, retryAfter, retryWithin)
        self.isLasting = isLasting || isTooLarge
        (self.isRefusal, self.isTooLarge, self.isOlder, self.code) = (isRefusal, isTooLarge, isOlder, code)
    }
}

extension FetchProblem {
    /// Keeps a problem, and describes any other error for people: messages of the layers below are for programmers.
    init(_ error: any Error) {
        self =
            error as? FetchProblem
            ?? FetchProblem(message: Self.words(for: error), isLasting: Self.isAboutCertificates(error))
    }

    private static func isAboutCertificates(_ error: any Error) -> Bool {
        if case .handshakeFailed(.sslError)? = error as? NIOSSLError { return true }
        return error is BoringSSLError || error is NIOSSLExtraError
    }

    private static func words(for error: any Error) -> String {
        switch error {
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .tlsHandshakeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout:
                return "no connection in time"
            case .remoteConnectionClosed, .uncleanShutdown: return "the connection was closed before the end"
            case .cancelled: return "cancelled"
            default: return error.shortDescription
            }
        case let error as NIOSSLError:
            if case .handshakeFailed(let reason) = error { return handshakeProblem("\(reason)") }
            return "TLS: \(error)"
        case let error as BoringSSLError: return handshakeProblem("\(error)")
        case let error as NIOSSLExtraError:
            return "the certificate is for another host: \(error.description)"
        case HTTPParserError.invalidEOFState: return "the connection was closed before the end"
        case let error as HTTPParserError: return "the answer is not HTTP: \(error)"
        case let error as NIOConnectionError:
            guard let first = error.connectionErrors.first?.error as? IOError else {
                return error.connectionErrors.isEmpty ? "no host \(error.host)" : "no connection"
            }
            return "no connection: \(systemMessage(first.errnoCode))"
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            return "the answer is malformed or truncated gzip"
        case let error as IOError:
            let words = systemMessage(error.errnoCode)
            return error.errnoCode == ECONNRESET || error.errnoCode == EPIPE
                ? "the connection was closed before the end" : "no connection: \(words)"
        default: return String("\(error)".prefix(300))
        }
    }

    private static func handshakeProblem(_ reason: String) -> String {
        // By words: NIOSSL has no public code. Only the text depends on them.
        let isUntrusted = reason.contains("CERTIFICATE_VERIFY_FAILED")
        let isPlain = reason.contains("WRONG_VERSION_NUMBER")
        if isUntrusted { return "the certificate of the server is not trusted, or has expired" }
        return isPlain ? "the server does not speak TLS there" : "TLS: \(reason.prefix(200))"
    }
}

extension HTTPClientResponse {
    /// Reads the body, up to a limit.
    func bytes(limit: Int) async throws -> [UInt8] {
        let tooLarge = FetchProblem(message: "the answer has more than \(limit) bytes", isTooLarge: true)
        if let length = headers.first(name: "content-length").flatMap({ Int($0) }), length > limit {
            throw tooLarge
        }
        var bytes: [UInt8] = []
        do {
            for try await part in body {
                guard bytes.count + part.readableBytes <= limit else { throw tooLarge }
                bytes.append(contentsOf: part.readableBytesView)
            }
        } catch NIOHTTPDecompression.DecompressionError.limit {
            throw tooLarge
        }
        return bytes
    }
}
#endif
