import Synchronization

/// Who may ask: the token of the address, which a page exchanges for a session.
final class Secrets: Sendable {
    let token = Secrets.random()
    private let sessions = Mutex<[String]>([])
    /// Then the oldest one ends.
    private static let most = 256

    /// - Returns: `nil` if the token is a wrong one.
    func session(for token: String) -> String? {
        guard Self.isSame(token, self.token) else { return nil }
        let session = Self.random()
        sessions.withLock { sessions in
            if sessions.count == Self.most { sessions.removeFirst() }
            sessions.append(session)
        }
        return session
    }

    func isSession(_ text: some StringProtocol) -> Bool {
        // All are compared, so that the time tells nothing of them.
        sessions.withLock { $0.reduce(false) { Self.isSame(text, $1) || $0 } }
    }

    /// Compares in a time that depends on the lengths alone.
    static func isSame(_ given: some StringProtocol, _ secret: String) -> Bool {
        let (given, secret) = (Array(given.utf8), Array(secret.utf8))
        guard given.count == secret.count else { return false }
        return zip(given, secret).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// 192 random bits as 32 characters.
    static func random() -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        // On Linux it is getrandom(2).
        var generator = SystemRandomNumberGenerator()
        return String(decoding: (0..<32).map { _ in digits[Int(generator.next() & 63)] }, as: UTF8.self)
    }
}
