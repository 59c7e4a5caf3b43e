// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakRecords
import TweakSystem
import TweakXCP

/// Serves one client of XCP after the other, on one thread.
struct XCPServer {
    private let program: LiveProgram
    private let listener: LoopbackListener
    private var session: XCPSession<ProgramValues>
    private var client: Client?
    /// Whether the terminal was told that clients of other users are refused.
    private var hasWarned = false

    /// A connection, and what it is about to receive.
    private struct Client {
        let descriptor: CInt
        var input = XCPInput()
        var output = XCPOutput()
        /// The number of samples that it has not got.
        var lost = 0
    }

    /// Where clients connect.
    var address: String { listener.address }

    init(_ program: LiveProgram, _ session: XCPSession<ProgramValues>, port: UInt16) throws(Failure) {
        (self.program, self.session) = (program, session)
        listener = try LoopbackListener(port: port)
    }

    /// Serves until the program ends.
    mutating func serve() throws(Failure) {
        while true {
            var entries = [
                pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: program.connection.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let samplings = Array(session.values.samplings)
            entries += samplings.map { pollfd(fd: $0.value.descriptor, events: Int16(POLLIN), revents: 0) }
            if let client {
                entries.append(pollfd(fd: client.descriptor, events: events(of: client), revents: 0))
            }
            guard poll(&entries, nfds_t(entries.count), -1) >= 0 || errno == EINTR else {
                throw Failure("cannot wait for clients: \(systemMessage())", .system)
            }
            if entries[1].revents != 0, try hasEnded() { return end() }
            for (entry, sampling) in zip(entries[2...], samplings) where entry.revents != 0 {
                try read(sampling.value, at: sampling.key)
            }
            let readable = Int16(POLLIN | POLLHUP | POLLERR)
            if client != nil, let entry = entries.last, entry.revents & readable != 0 { read() }
            if entries[0].revents != 0 { accept() }
            send()
        }
    }

    /// A client that does not read its answers is not read either.
    private func events(of client: Client) -> Int16 {
        Int16((client.output.isFull ? 0 : POLLIN) | (client.output.unsent.isEmpty ? 0 : POLLOUT))
    }

    /// Reads what the program sends unasked, which is only the end of the connection.
    private func hasEnded() throws(Failure) -> Bool {
        do throws(ConnectionError) {
            try program.connection.receive()
            while try program.connection.nextMessage() != nil {}
            return false
        } catch .closed {
            return true
        } catch {
            throw error.failure(of: program.title)
        }
    }

    /// Tells the client and the terminal that the program has ended.
    private mutating func end() {
        client?.output.append(XCPPackets.sessionEnded)
        send()
        drop()
        printMessage("\(program.title): it has ended")
    }

    private mutating func accept() {
        switch listener.accept() {
        case .accepted(let descriptor):
            // One client at a time, as in the standard.
            if client == nil { client = Client(descriptor: descriptor) } else { close(descriptor) }
        case .refused:
            if !hasWarned { warn("a client of another user was refused; further ones are not reported") }
            hasWarned = true
        case .none: break
        }
    }

    private mutating func read() {
        guard var client else { return }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(client.descriptor, &bytes, bytes.count, 0)
        guard count > 0 else {
            if count == 0 || ![EAGAIN, EINTR].contains(errno) { drop() }
            return
        }
        client.input.append(bytes.prefix(count))
        do throws(XCPError) {
            while let packet = try client.input.next() {
                if let answer = session.answer(packet) { client.output.append(answer) }
            }
            self.client = client
        } catch {
            warn("the client sent an empty or oversized packet and was disconnected")
            drop()
        }
    }

    /// Reads samples, and appends their packets.
    private mutating func read(_ sampling: ProgramValues.Sampling, at event: XCPEvent) throws(Failure) {
        guard var client else { return }
        do throws(ConnectionError) {
            try sampling.read { samples, lost in
                client.lost += session.append(samples, lost: lost, at: event, to: &client.output)
            }
        } catch .closed {
            // Its other connection says whether the program has ended.
            session.values.end(event)
        } catch {
            throw error.failure(of: program.title)
        }
        self.client = client
    }

    private mutating func send() {
        while let client, !client.output.unsent.isEmpty {
            let count = client.output.unsent.withUnsafeBytes {
                Glibc.send(client.descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count > 0 {
                self.client?.output.removeFirst(count)
            } else if errno == EAGAIN {
                return
            } else if errno != EINTR {
                drop()
            }
        }
    }

    /// Forgets the client.
    private mutating func drop() {
        guard let client else { return }
        close(client.descriptor)
        if client.lost > 0 {
            warn("the client did not get \(counted(client.lost, "sample", "samples")) in time", .lost)
        }
        self.client = nil
        session.end()
    }
}
