internal import TweakJSON

/// What a request is known by, chosen by the client.
package enum RequestID: Hashable, Sendable {
    case number(Int64)
    case text(String)
    /// Of a message that could not be read.
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

/// A request as a program reads it.
package struct ControlRequest: Sendable {
    /// `nil` if the client does not want an answer.
    package let id: RequestID?
    package let call: Result<any ControlMethod, ControlError>

    /// Reads a line.
    package init(line: [UInt8]) {
        do throws(JSONError) {
            let envelope: Envelope = try decodeJSON(from: line)
            (id, call) = (envelope.id, envelope.call)
        } catch .malformed(let reason) {
            (id, call) = (.unknown, .failure(ControlError(.parse, "a request is JSON, but \(reason)")))
        } catch {
            (id, call) = (.unknown, .failure(ControlError(.invalidRequest, "\(error)")))
        }
    }

    /// For a line that was too long to be read.
    package static let tooLong = ControlRequest(
        id: .unknown,
        call: .failure(
            ControlError(.invalidRequest, "a request has at most \(ControlLimits.requestSize) bytes")))

    private init(id: RequestID?, call: Result<any ControlMethod, ControlError>) {
        (self.id, self.call) = (id, call)
    }
}

private struct Envelope: Decodable {
    var id: RequestID?
    var call: Result<any ControlMethod, ControlError>

    private enum CodingKeys: CodingKey { case jsonrpc, id, method, params }

    init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: CodingKeys.self) else {
            id = .unknown
            call = .failure(ControlError(.invalidRequest, "a request is one object a line, and no batch"))
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

    /// An unknown parameter is refused: who sends it expects something of it.
    private static func parameters<Method: ControlMethod>(
        of method: Method.Type, _ container: KeyedDecodingContainer<CodingKeys>
    ) throws(ControlError) -> Method {
        do {
            guard container.contains(.params) else {
                return try decodeJSON(from: Array("{}".utf8))
            }
            let known = Method.CodingKeys.allCases.map(\.stringValue)
            let given = try container.nestedContainer(keyedBy: JSONName.self, forKey: .params).allKeys
            if let other = given.first(where: { !known.contains($0.stringValue) }) {
                throw ControlError(
                    .invalidParameters,
                    "\(Method.name) has no parameter \"\(other.stringValue)\"; allowed: "
                        + (known.isEmpty ? "none" : known.joined(separator: ", ")))
            }
            return try container.decode(Method.self, forKey: .params)
        } catch let error as ControlError {
            throw error
        } catch {
            throw ControlError(.invalidParameters, "\(Method.name): \(JSONError(thrown: error))")
        }
    }
}
