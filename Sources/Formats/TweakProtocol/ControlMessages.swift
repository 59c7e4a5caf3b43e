// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON
package import TweakRecords

// The messages of both sides as lines, including the newline.

/// - Parameter writeMembers: Writes the members, sorted.
private func line(_ writeMembers: (inout JSONWriter) -> Void) -> [UInt8] {
    var line = writtenJSON { $0.object(writeMembers) }
    line.append(UInt8(ascii: "\n"))
    return line
}

private let version = "2.0"

extension ControlMethod {
    /// The request for the method.
    ///
    /// - Parameter person: The name of the person for whom the client asks; at most ``ControlLimits/personSize`` bytes.
    package func request(id: RequestID, person: String? = nil) -> [UInt8] {
        line { writer in
            writer.member("id", id)
            writer.member("jsonrpc", version)
            writer.member("method", Self.name)
            writer.member("params", self)
            writer.member("person", person)
        }
    }
}

/// The answer to a request.
package struct ControlAnswer<Result: JSONWritable & Sendable>: Sendable {
    private let id: RequestID
    private let result: Result?
    private let error: ControlError?

    package init(_ result: Result, to id: RequestID) { (self.id, self.result, error) = (id, result, nil) }
    package init(error: ControlError, to id: RequestID) { (self.id, result, self.error) = (id, nil, error) }

    /// The line with the answer.
    ///
    /// - Parameter warnings: They become a member of the result.
    package func line(warnings: [ControlWarning] = []) -> [UInt8] {
        let warned =
            warnings.isEmpty
            ? nil : result.flatMap { try? JSONParser.value(of: $0.json()).adding(warnings) }
        return TweakProtocol.line { writer in
            writer.member("error", error)
            writer.member("id", id)
            writer.member("jsonrpc", version)
            if let warned { writer.member("result", warned) } else { writer.member("result", result) }
        }
    }
}

/// A problem with a change that was made. Answers of methods that set values have a list of them.
package struct ControlWarning: JSONReadable, JSONWritable, Hashable, Sendable {
    /// The kind, for programs.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The overrides file was corrupt. It was replaced by the values of the program, and kept under another name.
        package static let brokenOverrides = Kind(rawValue: "brokenOverrides")
        /// The file system of the overrides has no locks.
        package static let noLock = Kind(rawValue: "noLock")
        /// Some tweaks may have values of a part of an earlier change, whose writer was killed. Clients that write into
        /// the memory of a process without the library find that.
        package static let torn = Kind(rawValue: "torn")
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

extension ControlWarning {
    package init(json: JSONValue) throws(JSONError) {
        let members = try JSONMembers(json: json)
        kind = Kind(rawValue: try members.read("kind"))
        message = try members.read("message")
        path = try members.readIfPresent("path")
        keptAs = try members.readIfPresent("keptAs")
    }

    package func write(to writer: inout JSONWriter) { writer.write(json) }

    fileprivate var json: JSONValue {
        var members: JSONObject = [:]
        members["kind"] = .scalar(.string(kind.rawValue))
        members["message"] = .scalar(.string(message))
        members["path"] = path.map { .scalar(.string($0)) }
        members["keptAs"] = keptAs.map { .scalar(.string($0)) }
        return .object(members)
    }
}

extension JSONValue {
    /// An object with a list of warnings.
    package func adding(_ warnings: [ControlWarning]) -> JSONValue {
        guard case .object(var members) = self else { return self }
        members["warnings"] = .array(warnings.map { $0.json })
        return .object(members)
    }
}

extension ChangedTweaks {
    /// The notification.
    package func line() -> [UInt8] {
        TweakProtocol.line { writer in
            writer.member("jsonrpc", version)
            writer.member("method", Self.name)
            writer.member("params", self)
        }
    }
}

/// A message from a program.
package enum ProgramMessage: Sendable {
    case changed(ChangedTweaks)
    case sampled(TakenSamples)
    case answer(Answer)

    /// Parses a line.
    package init(line: [UInt8]) throws(JSONError) {
        let message = try JSONMembers(json: try readJSON(from: line))
        // Null is the id in answers to unreadable requests.
        let id: RequestID? = try message.readUnlessMissing("id")
        switch try message.readIfPresent("method") as String? {
        case ChangedTweaks.name?: self = .changed(try message.checkingVersion().read("params"))
        case TakenSamples.name?: self = .sampled(try message.checkingVersion().read("params"))
        default:
            guard let id else { throw .unexpected(problem: " is neither an answer nor a change") }
            self = .answer(Answer(id: id, message: message))
        }
    }

    package struct Answer: Sendable {
        package let id: RequestID
        fileprivate let message: JSONMembers

        /// The problems with a change that was made.
        package var warnings: [ControlWarning] {
            let result: JSONMembers? = try? message.read("result")
            return (try? result?.readIfPresent("warnings")) ?? []
        }

        /// The program's answer to a method.
        ///
        /// - Throws: The program's ``ControlError``, or one with the code `internalError` if the answer is invalid.
        package func result<Method: ControlMethod>(
            of method: Method.Type
        ) throws(ControlError) -> Method.Answer {
            let (result, problem): (Method.Answer?, ControlError?)
            do throws(JSONError) {
                result = try message.checkingVersion().readIfPresent("result")
                problem = try message.readIfPresent("error")
            } catch {
                throw ControlError(.internalError, "the program's answer is malformed: \(error)")
            }
            if let problem { throw problem }
            guard let result else {
                throw ControlError(.internalError, "the program's answer holds neither a result nor an error")
            }
            return result
        }
    }
}

extension JSONMembers {
    /// Throws if the version of the message is missing.
    fileprivate func checkingVersion() throws(JSONError) -> JSONMembers {
        _ = try read("jsonrpc") as String
        return self
    }
}

/// The id of a request, chosen by the client.
package enum RequestID: Hashable, Sendable {
    case number(Int64)
    case text(String)
    /// For an unreadable message.
    case unknown
}

extension RequestID: JSONReadable, JSONWritable {
    package init(json: JSONValue) throws(JSONError) {
        if let number = try? Int64(json: json) {
            self = .number(number)
        } else if let text = try? String(json: json) {
            self = .text(text)
        } else if json == .null {
            self = .unknown
        } else {
            throw .unexpected(problem: ": a request's id is an integer or a text")
        }
    }

    package func write(to writer: inout JSONWriter) {
        switch self {
        case .number(let number): number.write(to: &writer)
        case .text(let text): text.write(to: &writer)
        case .unknown: writer.write(JSONValue.null)
        }
    }
}

/// A request, as a program receives it.
package struct ControlRequest: Sendable {
    /// `nil` if the client wants no answer.
    package private(set) var id: RequestID? = .unknown
    /// The person for whom the client asks, as the client says; `nil` if it does not say.
    package private(set) var person: String?
    package private(set) var call: Result<ControlCall, ControlError>
    /// Whether the call sets values, see ``ControlMethodName/setsValues``.
    package private(set) var setsValues = false

    /// Parses a line.
    package init(line: [UInt8]) {
        call = .failure(ControlError(.invalidRequest, "send one object per line; there are no batches"))
        let json: JSONValue
        do throws(JSONError) { json = try parseJSON(from: line, repeatedNames: .refused) } catch {
            call = .failure(ControlError(.parse, "a request is JSON, but \(error)"))
            return
        }
        guard let members = try? JSONMembers(json: json) else { return }
        do throws(ControlError) {
            let method = try readHeader(members)
            call = .success(try members.call(of: method))
            setsValues = method.setsValues
        } catch { call = .failure(error) }
    }

    /// For a line that exceeds the limit.
    package static let tooLong = ControlRequest(
        failing: ControlError(.invalidRequest, "a request has at most \(ControlLimits.requestSize) bytes"))

    private init(failing error: ControlError) { call = .failure(error) }

    /// Reads what all requests have.
    private mutating func readHeader(_ members: JSONMembers) throws(ControlError) -> ControlMethodName {
        let givenVersion: String = try refusing(.invalidRequest) { () throws(JSONError) in
            try members.read("jsonrpc")
        }
        guard givenVersion == version else {
            throw ControlError(.invalidRequest, "the protocol is JSON-RPC 2.0: \"jsonrpc\" is \"2.0\"")
        }
        let given: RequestID? = try refusing(.invalidRequest) { () throws(JSONError) in
            try members.readUnlessMissing("id")
        }
        guard given != .unknown else {
            throw ControlError(.invalidRequest, "a request's id is an integer or a text")
        }
        id = given
        person = try refusing(.invalidRequest) { () throws(JSONError) in try members.readIfPresent("person") }
        guard person?.utf8.count ?? 0 <= ControlLimits.personSize else {
            throw ControlError(
                .invalidRequest, "a person's name has at most \(ControlLimits.personSize) bytes")
        }
        let name: String = try refusing(.invalidRequest) { () throws(JSONError) in try members.read("method")
        }
        guard let method = ControlMethodName(rawValue: name) else {
            throw ControlError(.unknownMethod, "unknown method \"\(name)\"")
        }
        return method
    }
}

/// Calls `read`; its error is that of the answer.
private func refusing<Value>(
    _ code: ControlError.Code, _ read: () throws(JSONError) -> Value
) throws(ControlError) -> Value {
    do throws(JSONError) { return try read() } catch { throw ControlError(code, error.reason) }
}

extension JSONMembers {
    fileprivate func call(of method: ControlMethodName) throws(ControlError) -> ControlCall {
        switch method {
        case .describe: .describe(try parameters())
        case .list: .list(try parameters())
        case .get: .get(try parameters())
        case .change: .change(try parameters())
        case .set: .set(try parameters())
        case .reset: .reset(try parameters())
        case .setMany: .setMany(try parameters())
        case .run: .run(try parameters())
        case .subscribe: .subscribe(try parameters())
        case .sample: .sample(try parameters())
        case .unsubscribe: .unsubscribe(try parameters())
        case .explain: .explain(try parameters())
        case .history: .history(try parameters())
        case .undo: .undo(try parameters())
        case .revert: .revert(try parameters())
        case .mark: .mark(try parameters())
        case .adopt: .adopt(try parameters())
        }
    }

    private func parameters<Method: ControlMethod>() throws(ControlError) -> Method {
        let given = try parameters(of: Method.method, allowed: Method.parameters)
        do throws(JSONError) { return try Method(members: given ?? JSONMembers()) } catch {
            throw Method.method.refusal(given == nil ? error : error.inside("params"))
        }
    }

    /// The given parameters; `nil` if there are none. Unknown ones and null are refused, because the client expects an effect.
    private func parameters(
        of method: ControlMethodName, allowed: [ByteText]
    ) throws(ControlError) -> JSONMembers? {
        let given: JSONMembers?
        do throws(JSONError) { given = try readUnlessMissing("params") } catch { throw method.refusal(error) }
        guard let given else { return nil }
        let names = given.names
        if let other = names.first(where: { !allowed.contains($0) }) {
            let allowed = allowed.map { $0.text }.joined(separator: ", ")
            throw ControlError(
                .invalidParameters,
                "\(method.rawValue) has no parameter \"\(other.text)\"; allowed: "
                    + (allowed.isEmpty ? "none" : allowed))
        }
        // A client that means a value must not get what an absent parameter means.
        if let null = names.first(where: given.isNull) {
            throw ControlError(
                .invalidParameters,
                "\(method.rawValue): params.\(null.text) is null; leave it out, or give it a value")
        }
        return given
    }
}

extension ControlMethodName {
    fileprivate func refusal(_ error: JSONError) -> ControlError {
        ControlError(.invalidParameters, "\(rawValue): \(error.reason)")
    }
}

/// An error of JSON-RPC 2.0.
package struct ControlError: Error, Hashable, Sendable {
    package struct Code: RawRepresentable, Hashable, Sendable {
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
    package struct Details: Hashable, Sendable {
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

extension ControlError: JSONStructure {
    package init(members: JSONMembers) throws(JSONError) {
        code = Code(rawValue: try members.read("code"))
        message = try members.read("message")
        data = try members.readIfPresent("data")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("code", code.rawValue)
        writer.member("data", data)
        writer.member("message", message)
    }
}

extension ControlError.Details: JSONStructure {
    package init(members: JSONMembers) throws(JSONError) {
        nearest = try members.readIfPresent("nearest")
        allowed = try members.readIfPresent("allowed")
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member("allowed", allowed)
        writer.member("nearest", nearest)
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
