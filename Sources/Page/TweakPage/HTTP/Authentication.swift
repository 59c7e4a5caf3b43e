// SPDX-License-Identifier: BSD-3-Clause
#if UI
import CommandSupport
import Crypto
import Glibc
import TweakRecords
import TweakSystem

/// Authentication: the page exchanges the token in its address for a session.
///
/// A session is 32 random characters and their code, which only the token's holder can compute. The server stores no
/// sessions, so they are valid as long as the token is: after a restart with the same token, pages continue.
struct Authentication: Sendable {
    let token: String

    private static let idLength = 32

    /// - Returns: `nil` if the token is wrong.
    func session(for token: String) -> String? {
        guard Self.isSame(token, self.token) else { return nil }
        let id = Self.random()
        return id + code(of: id)
    }

    func isSession(_ text: some StringProtocol) -> Bool {
        Self.isSame(text.dropFirst(Self.idLength), code(of: text.prefix(Self.idLength)))
    }

    private func code(of id: some StringProtocol) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(id.utf8), using: SymmetricKey(data: Array(token.utf8)))
        return code.hexadecimal
    }

    /// Compares in a time that depends only on the lengths.
    static func isSame(_ given: some StringProtocol, _ secret: String) -> Bool {
        let (given, secret) = (Array(given.utf8), Array(secret.utf8))
        guard given.count == secret.count else { return false }
        return zip(given, secret).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// 192 random bits as 32 characters.
    static func random() -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        // Uses getrandom(2) on Linux.
        var generator = SystemRandomNumberGenerator()
        return String(
            decoding: (0..<idLength).map { _ in digits[Int(generator.next() & 63)] }, as: UTF8.self)
    }

    /// Reads a token from a private file.
    ///
    /// - Returns: `nil` if no file is named.
    static func token(in options: TokenOptions) throws(Failure) -> String? {
        guard let path = options.tokenFile else { return nil }
        let bytes = try readInput(path)
        if let status = stat(path: path), status.st_mode & (S_IROTH | S_IWOTH | S_IWGRP) != 0 {
            throw Failure("\(path): others can read or change it; run chmod 600 on it", .forbidden)
        }
        let token = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard token.count == 1, let token = token.first, 16...512 ~= token.utf8.count,
            token.utf8.allSatisfy({ 0x21..<0x7F ~= $0 })
        else {
            throw Failure("\(path): a token is one line of 16 to 512 visible characters of ASCII", .invalid)
        }
        return String(token)
    }
}
#endif
