package import TweakJSON

// The messages of both sides as lines, with the newline.

extension ControlMethod {
    /// The request for the method.
    package func request(id: RequestID) throws -> [UInt8] {
        try line(Request(id: id, method: Self.name, params: self))
    }
}

private struct Request<Method: ControlMethod>: Encodable {
    var jsonrpc = "2.0"
    let id: RequestID
    let method: String
    let params: Method
}

/// The answer to a request.
package struct ControlAnswer<Result: Codable & Sendable>: Codable, Sendable {
    private var jsonrpc = "2.0"
    package let id: RequestID
    package let result: Result?
    package let error: ControlError?

    package init(_ result: Result, to id: RequestID) { (self.id, self.result, error) = (id, result, nil) }
    package init(error: ControlError, to id: RequestID) { (self.id, result, self.error) = (id, nil, error) }

    package func line() throws -> [UInt8] { try TweakProtocol.line(self) }
}

extension ChangedTweaks {
    /// The notification.
    package func line() throws -> [UInt8] { try TweakProtocol.line(Notification(params: self)) }
}

private struct Notification: Codable {
    var jsonrpc = "2.0"
    var method = ChangedTweaks.name
    let params: ChangedTweaks
}

/// What a program says, as a client reads it.
package enum ProgramMessage: Sendable {
    case changed(ChangedTweaks)
    case answer(Answer)

    /// Reads a line.
    package init(line: [UInt8]) throws(JSONError) {
        let message: JSONValue = try decodeJSON(from: line)
        let header: Header = try message.decode()
        if header.method == ChangedTweaks.name {
            let notification: Notification = try message.decode()
            self = .changed(notification.params)
        } else if let id = header.id {
            self = .answer(Answer(id: id, message: message))
        } else {
            throw .unexpected(reason: "it is neither an answer nor a change")
        }
    }

    private struct Header: Decodable {
        let id: RequestID?
        let method: String?

        private enum CodingKeys: CodingKey { case id, method }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            // Null is the id of a request that the program could not read.
            id = container.contains(.id) ? try container.decode(RequestID.self, forKey: .id) : nil
            method = try container.decodeIfPresent(String.self, forKey: .method)
        }
    }

    package struct Answer: Sendable {
        package let id: RequestID
        fileprivate let message: JSONValue

        /// What the program answered to a method.
        ///
        /// - Throws: ``ControlError``, the program's, or one of the code `internalError` if the answer makes no sense.
        package func result<Method: ControlMethod>(
            of method: Method.Type
        ) throws(ControlError) -> Method.Answer {
            let answer: ControlAnswer<Method.Answer>
            do throws(JSONError) { answer = try message.decode() } catch {
                throw ControlError(.internalError, "the program's answer makes no sense: \(error)")
            }
            if let error = answer.error { throw error }
            guard let result = answer.result else {
                throw ControlError(.internalError, "the program's answer holds neither a result nor an error")
            }
            return result
        }
    }
}

private func line(_ message: some Encodable) throws -> [UInt8] {
    try encodeJSON(message) + [UInt8(ascii: "\n")]
}
