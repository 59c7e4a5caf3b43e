// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

// The messages of both sides as lines, including the newline.

extension ControlMethod {
    /// The request for the method.
    ///
    /// - Parameter person: The name of the person for whom the client asks; at most ``ControlLimits/personSize`` bytes.
    package func request(id: RequestID, person: String? = nil) throws -> [UInt8] {
        try line(Request(id: id, method: Self.name, person: person, params: self))
    }
}

private struct Request<Method: ControlMethod>: Encodable {
    var jsonrpc = "2.0"
    let id: RequestID
    let method: String
    let person: String?
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

    /// The line with the answer.
    ///
    /// - Parameter warnings: They become a member of the result.
    package func line(warnings: [ControlWarning] = []) throws -> [UInt8] {
        let line = try TweakProtocol.line(self)
        guard !warnings.isEmpty, case .object(var answer) = try decodeJSON(JSONValue.self, from: line),
            let result = answer["result"]
        else { return line }
        answer["result"] = try result.adding(warnings)
        return JSONValue.object(answer).json(isPretty: false) + [UInt8(ascii: "\n")]
    }
}

/// A problem with a change that was made. Answers of methods that set values have a list of them.
package struct ControlWarning: Hashable, Codable, Sendable {
    /// The kind, for programs.
    package struct Kind: RawRepresentable, Hashable, Codable, Sendable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The overrides file was corrupt. It was replaced by the values of the program, and kept under another name.
        package static let brokenOverrides = Kind(rawValue: "brokenOverrides")
        /// The file system of the overrides has no locks.
        package static let noLock = Kind(rawValue: "noLock")
        /// No code reads the tweak. The library does not look for that, but clients do.
        package static let unread = Kind(rawValue: "unread")
    }

    package let kind: Kind
    /// The problem, for people.
    package let message: String
    /// The file with the problem.
    package let path: String?
    /// The path that the former file has now.
    package let keptAs: String?

    package init(_ kind: Kind, _ message: String, path: String? = nil, keptAs: String? = nil) {
        (self.kind, self.message, self.path, self.keptAs) = (kind, message, path, keptAs)
    }
}

/// The part of a result that methods that set values share.
private struct WarningMembers: Decodable {
    let warnings: [ControlWarning]?
}

extension JSONValue {
    /// An object with a list of warnings.
    package func adding(_ warnings: [ControlWarning]) throws -> JSONValue {
        guard case .object(var members) = self else { return self }
        members["warnings"] = try decodeJSON(JSONValue.self, from: encodeJSON(warnings))
        return .object(members)
    }
}

extension ChangedTweaks {
    /// The notification.
    package func line() throws -> [UInt8] {
        try TweakProtocol.line(Notification(method: Self.name, params: self))
    }
}

private struct Notification<Params> {
    var jsonrpc = "2.0"
    var method: String
    let params: Params
}

extension Notification: Encodable where Params: Encodable {}
extension Notification: Decodable where Params: Decodable {}

/// A message from a program.
package enum ProgramMessage: Sendable {
    case changed(ChangedTweaks)
    case sampled(TakenSamples)
    case answer(Answer)

    /// Parses a line.
    package init(line: [UInt8]) throws(JSONError) {
        let message: JSONValue = try decodeJSON(from: line)
        let header: Header = try message.decode()
        if header.method == ChangedTweaks.name {
            let notification: Notification<ChangedTweaks> = try message.decode()
            self = .changed(notification.params)
        } else if header.method == TakenSamples.name {
            let notification: Notification<TakenSamples> = try message.decode()
            self = .sampled(notification.params)
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
            // Null is the id in answers to unreadable requests.
            id = container.contains(.id) ? try container.decode(RequestID.self, forKey: .id) : nil
            method = try container.decodeIfPresent(String.self, forKey: .method)
        }
    }

    package struct Answer: Sendable {
        package let id: RequestID
        fileprivate let message: JSONValue

        /// The problems with a change that was made.
        package var warnings: [ControlWarning] {
            guard case .object(let answer) = message,
                let result = try? answer["result"]?.decode(WarningMembers.self)
            else { return [] }
            return result.warnings ?? []
        }

        /// The program's answer to a method.
        ///
        /// - Throws: The program's ``ControlError``, or one with the code `internalError` if the answer is invalid.
        package func result<Method: ControlMethod>(
            of method: Method.Type
        ) throws(ControlError) -> Method.Answer {
            let answer: ControlAnswer<Method.Answer>
            do throws(JSONError) { answer = try message.decode() } catch {
                throw ControlError(.internalError, "the program's answer is malformed: \(error)")
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

/// The id of a request, chosen by the client.
package enum RequestID: Hashable, Sendable {
    case number(Int64)
    case text(String)
    /// For an unreadable message.
    case unknown
}

extension RequestID: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if container.decodeNil() {
            self = .unknown
        } else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a request's id is an integer or a text")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .unknown: try container.encodeNil()
        }
    }
}

/// A request, as a program receives it.
package struct ControlRequest: Sendable {
    /// `nil` if the client wants no answer.
    package let id: RequestID?
    /// The person for whom the client asks, as the client says; `nil` if it does not say.
    package let person: String?
    package let call: Result<any ControlMethod, ControlError>

    /// Parses a line.
    package init(line: [UInt8]) {
        do throws(JSONError) {
            let envelope: Envelope = try decodeJSON(from: line, repeatedNames: .refused)
            (id, person, call) = (envelope.id, envelope.person, envelope.call)
        } catch .malformed(let reason) {
            (id, person, call) = (
                .unknown, nil, .failure(ControlError(.parse, "a request is JSON, but \(reason)"))
            )
        } catch {
            (id, person, call) = (.unknown, nil, .failure(ControlError(.invalidRequest, "\(error)")))
        }
    }

    /// For a line that exceeds the limit.
    package static let tooLong = ControlRequest(
        id: .unknown,
        call: .failure(
            ControlError(.invalidRequest, "a request has at most \(ControlLimits.requestSize) bytes")))

    private init(id: RequestID?, call: Result<any ControlMethod, ControlError>) {
        (self.id, person, self.call) = (id, nil, call)
    }
}

private struct Envelope: Decodable {
    var id: RequestID?
    var person: String?
    var call: Result<any ControlMethod, ControlError>

    private enum CodingKeys: CodingKey { case jsonrpc, id, method, person, params }

    init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: CodingKeys.self) else {
            id = .unknown
            call = .failure(ControlError(.invalidRequest, "send one object per line; there are no batches"))
            return
        }
        do {
            id = .unknown
            guard try container.decode(String.self, forKey: .jsonrpc) == "2.0" else {
                throw ControlError(.invalidRequest, "the protocol is JSON-RPC 2.0: \"jsonrpc\" is \"2.0\"")
            }
            id = container.contains(.id) ? try container.decode(RequestID.self, forKey: .id) : nil
            guard id != .unknown else {
                throw ControlError(.invalidRequest, "a request's id is an integer or a text")
            }
            person = try container.decodeIfPresent(String.self, forKey: .person)
            guard person?.utf8.count ?? 0 <= ControlLimits.personSize else {
                throw ControlError(
                    .invalidRequest, "a person's name has at most \(ControlLimits.personSize) bytes")
            }
            let method = try container.decode(String.self, forKey: .method)
            guard let type = controlMethods.first(where: { $0.name == method }) else {
                throw ControlError(.unknownMethod, "there is no method \"\(method)\"")
            }
            call = .success(try Self.parameters(of: type, container))
        } catch let error as ControlError {
            call = .failure(error)
        } catch let error as DecodingError {
            call = .failure(ControlError(.invalidRequest, "\(JSONError(error))"))
        }
    }

    /// Unknown parameters and null are refused, because the client expects an effect.
    private static func parameters<Method: ControlMethod>(
        of method: Method.Type, _ container: KeyedDecodingContainer<CodingKeys>
    ) throws(ControlError) -> Method {
        do {
            guard container.contains(.params) else {
                return try decodeJSON(from: Array("{}".utf8))
            }
            let known = Method.CodingKeys.allCases.map(\.stringValue)
            let parameters = try container.nestedContainer(keyedBy: JSONName.self, forKey: .params)
            let given = parameters.allKeys
            if let other = given.first(where: { !known.contains($0.stringValue) }) {
                throw ControlError(
                    .invalidParameters,
                    "\(Method.name) has no parameter \"\(other.stringValue)\"; allowed: "
                        + (known.isEmpty ? "none" : known.joined(separator: ", ")))
            }
            // A client that means a value must not get what an absent parameter means.
            if let null = try given.first(where: { try parameters.decodeNil(forKey: $0) }) {
                throw ControlError(
                    .invalidParameters,
                    "\(Method.name): params.\(null.stringValue) is null; leave it out, or give it a value")
            }
            return try container.decode(Method.self, forKey: .params)
        } catch let error as ControlError {
            throw error
        } catch {
            throw ControlError(.invalidParameters, "\(Method.name): \(JSONError(thrown: error))")
        }
    }
}

/// An error of JSON-RPC 2.0.
package struct ControlError: Error, Hashable, Codable, Sendable {
    package struct Code: RawRepresentable, Hashable, Codable, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The message is not JSON.
        package static let parse = Code(rawValue: -32700)
        /// The JSON is not a request.
        package static let invalidRequest = Code(rawValue: -32600)
        package static let unknownMethod = Code(rawValue: -32601)
        package static let invalidParameters = Code(rawValue: -32602)
        package static let internalError = Code(rawValue: -32603)
        /// There is no such tweak, category or collection.
        package static let unknownTweak = Code(rawValue: 1)
        /// The tweak refuses the value.
        package static let refused = Code(rawValue: 2)
        /// The tweak is not an action.
        package static let noAction = Code(rawValue: 3)
        /// A limit of concurrent work is reached.
        package static let busy = Code(rawValue: 4)
        /// The program has the value, but could not write it for the next start.
        package static let notKept = Code(rawValue: 5)
        /// The changes cannot be undone, or there is no such mark.
        package static let notUndone = Code(rawValue: 6)
        /// An action will not run, because the actor or the queue that should run it is gone.
        package static let notRun = Code(rawValue: 7)
    }

    /// Additional information for the client.
    package struct Details: Hashable, Codable, Sendable {
        /// Names similar to an unknown one, most similar first.
        package var nearest: [TweakKey]?
        /// The allowed values, in words.
        package var allowed: String?
    }

    package let code: Code
    /// The problem, and what is allowed, for people.
    package let message: String
    package let data: Details?

    package init(_ code: Code, _ message: String, nearest: [TweakKey]? = nil, allowed: String? = nil) {
        self.code = code
        self.message = message
        data = (nearest == nil && allowed == nil) ? nil : Details(nearest: nearest, allowed: allowed)
    }
}

extension ControlError: CustomStringConvertible {
    package var description: String { message }
}

/// Limits of what one side of the protocol accepts from the other, so that a client cannot exhaust a program's memory.
package enum ControlLimits {
    /// The protocol version, incremented by incompatible changes.
    package static let protocolVersion = 1
    /// The maximum size of a request in bytes, including the newline.
    package static let requestSize = 1 << 20
    /// The maximum size of a change's tag in bytes.
    package static let tagSize = 100
    /// The maximum size of a person's name in bytes.
    package static let personSize = 160
    /// The largest number of changed tweaks that an answer describes.
    package static let describedTweaks = 100
    /// The maximum number of clients of a program. More are refused.
    package static let clients = 128
    /// The maximum number of waiting requests of a client. The program then stops reading more.
    package static let waitingRequests = 128
    /// The maximum number of concurrent actions. More are refused as busy.
    package static let actions = 4
    /// The maximum number of bytes waiting for a client. The program then stops reading its requests, and merges its
    /// subscribed changes by tweak.
    package static let unreadSize = 1 << 20
    /// The maximum number of subscriptions of a client.
    package static let subscriptions = 64
    /// The maximum number of sample subscriptions among them.
    package static let samplings = 4
    /// The allowed samples per second, and the maximum number of values per second.
    package static let sampleRates = 0.001...1000.0
    package static let sampledValues = 1_000_000.0
    /// The maximum number of leases that end with a client's connection, and of all of a program.
    package static let leases = 4096
    package static let allLeases = 16384
    /// The allowed seconds of a lease, and of a gradual change.
    package static let leaseDurations = 0.001...604_800.0
    package static let rampDurations = 0.001...3600.0
    /// The maximum number of bytes of samples waiting for a client. Then the oldest are dropped.
    package static let unreadSamples = 4 << 20
}
