// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// A client of a running program that knows the protocol as its article tells it, and nothing of the library.
public final class ControlClient {
    /// Why a program could not be talked to.
    public struct Failure: Error {
        /// What happened.
        public let description: String
    }

    /// What a program answered.
    public struct Answer {
        /// The whole message.
        public let message: [String: Any]

        /// Makes an answer of a message.
        public init(message: [String: Any]) { self.message = message }

        /// The result; empty if there is none.
        public var result: [String: Any] { message["result"] as? [String: Any] ?? [:] }
        /// The code of the error; `nil` if there is none.
        public var errorCode: Int? { (message["error"] as? [String: Any])?["code"] as? Int }
        /// What is said to a person about the error; empty if there is none.
        public var errorMessage: String { (message["error"] as? [String: Any])?["message"] as? String ?? "" }
        /// What goes with the error.
        public var errorData: [String: Any] {
            (message["error"] as? [String: Any])?["data"] as? [String: Any] ?? [:]
        }
    }

    private let socket: Int32
    private var read = Data()
    private var lastID = 0
    /// What the program has told without being asked, and nobody has looked at.
    public private(set) var notifications: [[String: Any]] = []

    /// Connects to the socket of a program, when it is there.
    public init(_ path: String) throws {
        var connected: Int32 = -1
        _ = waitUntil {
            connected = Self.connect(path)
            return connected >= 0
        }
        guard connected >= 0 else { throw Failure(description: "nobody listens at \(path)") }
        socket = connected
        // A program that does not answer is a failure and not a test without end.
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    /// A connection at once; -1 if nobody listens.
    public static func connect(_ path: String) -> Int32 {
        let connection = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(connection, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result == 0 { return connection }
        close(connection)
        return -1
    }

    /// Sends bytes as they are.
    public func send(_ bytes: some Sequence<UInt8>) throws {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                throw Failure(description: "cannot send: \(String(cString: strerror(errno)))")
            }
            sent += count
        }
    }

    /// Sends a line.
    public func send(line: String) throws { try send((line + "\n").utf8) }

    /// Sends nothing any more; what comes can still be read.
    public func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Sends a request and does not wait for the answer.
    ///
    /// - Returns: Its id.
    @discardableResult
    public func post(_ method: String, _ parameters: [String: Any] = [:]) throws -> Int {
        try post([(method, parameters)])
    }

    /// Sends requests at once and does not wait for the answers.
    ///
    /// - Returns: The id of the last one.
    @discardableResult
    public func post(_ requests: [(method: String, parameters: [String: Any])]) throws -> Int {
        var data = Data()
        for (method, parameters) in requests {
            lastID += 1
            let message: [String: Any] = [
                "jsonrpc": "2.0", "id": lastID, "method": method, "params": parameters,
            ]
            data += try JSONSerialization.data(withJSONObject: message) + [UInt8(ascii: "\n")]
        }
        try send(data)
        return lastID
    }

    /// Sends a request and waits for its answer. What comes before is kept in ``notifications``, answers to others
    /// are dropped.
    public func request(_ method: String, _ parameters: [String: Any] = [:]) throws -> Answer {
        try answer(to: post(method, parameters))
    }

    /// Waits for the answer to a request.
    public func answer(to id: Int) throws -> Answer {
        while let message = try next() {
            if message["id"] as? Int == id { return Answer(message: message) }
            if message["method"] != nil { notifications.append(message) }
        }
        throw Failure(description: "the program has ended the connection")
    }

    /// The next message; `nil` if the program has ended the connection.
    public func next() throws -> [String: Any]? {
        while true {
            if let newline = read.firstIndex(of: UInt8(ascii: "\n")) {
                let line = read[..<newline]
                read = Data(read[(newline + 1)...])
                guard let message = try JSONSerialization.jsonObject(with: line) as? [String: Any] else {
                    throw Failure(description: "no object: \(String(decoding: line, as: UTF8.self))")
                }
                return message
            }
            guard try receive() else { return nil }
        }
    }

    /// Waits for so many messages and does not look at them, which is quick.
    public func skip(_ count: Int) throws {
        var left = count
        while true {
            while left > 0, let newline = read.firstIndex(of: UInt8(ascii: "\n")) {
                read = read[(newline + 1)...]
                left -= 1
            }
            if left == 0 { break }
            guard try receive() else {
                throw Failure(description: "the program has ended the connection")
            }
        }
        read = Data(read)
    }

    /// - Returns: `false` if the program has ended the connection.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &buffer, buffer.count, 0)
        if count == 0 || count < 0 && errno == ECONNRESET { return false }
        guard count > 0 else {
            throw Failure(description: "nothing to read: \(String(cString: strerror(errno)))")
        }
        read += buffer.prefix(count)
        return true
    }

    /// Waits for the next notification, or takes the first that is kept.
    public func nextNotification() throws -> [String: Any] {
        if !notifications.isEmpty { return notifications.removeFirst() }
        while let message = try next() {
            if message["method"] != nil { return message }
        }
        throw Failure(description: "the program has ended the connection")
    }

    /// Waits for the next notification and returns its changes.
    public func nextChanges() throws -> [[String: Any]] {
        let parameters = try nextNotification()["params"] as? [String: Any]
        return parameters?["changes"] as? [[String: Any]] ?? []
    }

    /// Reads changes until all tweaks that it was told of have these values.
    public func readChanges(to last: [String: Int]) throws {
        var values: [String: Int] = [:]
        while values != last {
            for change in try nextChanges() {
                if let tweak = change["tweak"] as? String { values[tweak] = change["newValue"] as? Int }
            }
        }
    }
}
