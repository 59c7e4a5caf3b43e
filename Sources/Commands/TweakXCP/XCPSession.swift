// SPDX-License-Identifier: BSD-3-Clause
package import TweakRecords

/// The values that a client of XCP reads and changes.
package protocol XCPValues {
    /// Returns the value that the program has, in the byte order of the session.
    ///
    /// - Parameter object: Its index in the memory of the session.
    /// - Throws: ``XCPError`` if the program does not have the object, or does not answer.
    mutating func bytes(of object: Int) throws(XCPError) -> [UInt8]

    /// Changes a value.
    ///
    /// - Parameter bytes: As many as the value has.
    /// - Throws: ``XCPError`` if the program refuses the value, or does not answer.
    mutating func change(_ object: Int, to bytes: [UInt8]) throws(XCPError)

    /// Whether samples of a value can be taken.
    func canSample(_ object: Int) -> Bool

    /// Samples these objects at an event from now on, instead of others; with none, no samples are taken.
    ///
    /// - Throws: ``XCPError`` if the program takes no samples of them. Those of before are taken further.
    mutating func sample(_ objects: [Int], at event: XCPEvent) throws(XCPError)

    /// The time of the clock by which samples are taken, in seconds since 1970.
    var now: Double { get }
}

/// The texts by which a client recognises a server, in answers to `GET_ID`.
package struct XCPIdentity: Sendable {
    let name, file: String
    let description, buildID: [UInt8]

    /// - Parameters:
    ///   - name: The name of the server, for people.
    ///   - file: The name of the description without a directory and an extension.
    ///   - description: The text of the description in A2L.
    ///   - buildID: The build id of the program, as in the description.
    package init(name: String, file: String, description: String, buildID: String?) {
        (self.name, self.file) = (name, file)
        (self.description, self.buildID) = (Array(description.utf8), Array((buildID ?? "").utf8))
    }

    /// The text of a kind, which is empty if there is none.
    fileprivate func text(_ kind: UInt8) -> [UInt8] {
        switch kind {
        case 0: Array(name.utf8)
        case 1: Array(file.utf8)
        case 2: Array((file + ".a2l").utf8)
        case 4: description
        case 5: buildID
        default: []
        }
    }
}

/// The session of a client: it turns each command into an answer. Its user reads and writes the bytes.
package struct XCPSession<Values: XCPValues> {
    package let memory: XCPMemory
    package var values: Values
    private let identity: XCPIdentity
    let byteOrder: ByteOrder
    package private(set) var isConnected = false
    /// Where `UPLOAD` and `DOWNLOAD` continue.
    private var pointer: Pointer?
    /// The values that the client is sent again and again.
    var lists = XCPLists()
    /// Whether the client has not been told yet that samples were lost.
    var hasLost = false

    private enum Pointer {
        case memory(XCPAddress)
        /// A text of the server, of which some bytes have been read.
        case text(ArraySlice<UInt8>)
    }

    /// - Parameter byteOrder: That of the program, and so of all numbers but those in headers.
    package init(
        _ memory: XCPMemory, _ values: Values, _ identity: XCPIdentity, byteOrder: ByteOrder = .native
    ) {
        (self.memory, self.values, self.identity) = (memory, values, identity)
        self.byteOrder = byteOrder
    }

    /// Does what a command asks for.
    ///
    /// - Parameter packet: The command, with at least one byte.
    /// - Returns: The answer; `nil` if the client has not connected, and so gets none.
    package mutating func answer(_ packet: [UInt8]) -> [UInt8]? {
        let command = XCPParameters(bytes: packet, byteOrder: byteOrder)
        guard isConnected || packet.first == 0xFF else { return nil }
        do throws(XCPError) {
            return [XCPPackets.answer] + (try result(of: command))
        } catch {
            return [XCPPackets.error, error.rawValue]
        }
    }

    private mutating func result(of command: XCPParameters) throws(XCPError) -> [UInt8] {
        switch try command.byte(0) {
        case 0xFF: return try connect(command)
        case 0xFE:
            end()
            return []
        case 0xFD: return status
        case 0xFC: throw .synchronized
        // No optional modes, block transfer or queue; the version is that of this server.
        case 0xFB: return [0, 0, 0, 0, 0, 0, 0x10]
        case 0xFA: return try identification(command)
        case 0xF6:
            pointer = .memory(try command.address(3))
            return []
        case 0xF5: return try upload(Int(command.byte(1)))
        case 0xF4:
            pointer = .memory(try command.address(3))
            return try upload(Int(command.byte(1)))
        case 0xF0:
            guard case .memory(let address) = pointer else { throw .accessDenied }
            pointer = .memory(try download(command, at: address, from: 2))
            return []
        case 0xED:
            _ = try download(command, at: command.address(3), from: 8)
            return []
        default:
            guard let result = try resultOfSampling(command) else { throw .unknownCommand }
            return result
        }
    }

    private mutating func connect(_ command: XCPParameters) throws(XCPError) -> [UInt8] {
        // The other mode is for bootloaders.
        guard try command.byte(1) == 0 else { throw .outOfRange }
        end()
        isConnected = true
        // The resources are calibration and samples; addresses are those of bytes, and GET_COMM_MODE_INFO is known.
        var result: [UInt8] = [0x05, byteOrder == .little ? 0x80 : 0x81]
        result.append(UInt8(XCPPackets.mostCommandBytes))
        result.append(UInt16(XCPPackets.mostSampleBytes), byteOrder)
        // The versions of the protocol and of the transport.
        return result + [1, 1]
    }

    /// Forgets the client.
    package mutating func end() {
        // Ending samples needs nothing from the program.
        try? change(to: XCPLists())
        (isConnected, pointer, hasLost) = (false, nil, false)
    }

    /// Whether samples are taken. Nothing is stored, and nothing protected.
    private var status: [UInt8] { [lists.areRunning ? 0x40 : 0, 0, 0, 0, 0] }

    private mutating func identification(_ command: XCPParameters) throws(XCPError) -> [UInt8] {
        let text = identity.text(try command.byte(1))
        offer(text)
        // The text is to be uploaded.
        var result: [UInt8] = [0, 0, 0]
        result.append(UInt32(clamping: text.count), byteOrder)
        return result
    }

    /// Lets the client upload a text next.
    mutating func offer(_ text: [UInt8]) { pointer = .text(text[...]) }

    // MARK: - Values

    private mutating func upload(_ count: Int) throws(XCPError) -> [UInt8] {
        guard 1..<XCPPackets.mostCommandBytes ~= count else { throw .outOfRange }
        switch pointer {
        case nil: throw .outOfOrder
        case .text(let rest):
            guard count <= rest.count else { throw .outOfRange }
            pointer = .text(rest.dropFirst(count))
            return Array(rest.prefix(count))
        case .memory(var address):
            var bytes: [UInt8] = []
            for part in try memory.parts(at: address, count: count) {
                let value = try values.bytes(of: part.object)
                guard value.count == memory.byteCount(of: part.object) else { throw .unavailable }
                bytes += value[part.bytes]
            }
            address.offset &+= UInt32(count)
            pointer = .memory(address)
            return bytes
        }
    }

    /// Changes one whole value.
    ///
    /// - Parameter start: The offset of the new value in the command, whose second byte is its length.
    /// - Returns: The address behind the value.
    private mutating func download(
        _ command: XCPParameters, at address: XCPAddress, from start: Int
    ) throws(XCPError) -> XCPAddress {
        let count = Int(try command.byte(1))
        guard count > 0, command.bytes.count - start >= count else { throw .malformed }
        guard let object = memory.object(at: address, count: count) else { throw .accessDenied }
        try values.change(object, to: Array(command.bytes[start..<start + count]))
        return XCPAddress(image: address.image, offset: address.offset &+ UInt32(count))
    }
}
