// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import Glibc
internal import TweakJSON
internal import TweakProtocol
internal import TweakRecords

/// A connection of a client and its requests. Used only on the library thread.
final class EndpointClient {
    /// The size of one read or write. Changes are encoded in portions of about this size.
    private static let portion = 16 << 10

    let id: UInt64
    private let socket: Descriptor
    private var input = LineSplitter()
    /// Requests not yet started.
    private var requests: [ControlRequest] = []
    /// The number of requests that other threads are executing.
    var onWorker = 0
    /// Whether one of its changes has been answered. Until then further ones wait as the first does, because answers come
    /// in order.
    var hasChanged = false
    var runningActions = 0
    private var output: [UInt8] = []
    private var sent = 0
    /// The tweaks of each subscription; `nil` for all.
    private var subscriptions: [UInt64: Set<TweakKey>?] = [:]
    private var samplings: [UInt64: Sampling] = [:]
    private var lastSubscription: UInt64 = 0
    private var changes = CoalescedChanges<ChangeNote>()
    /// Whether the client has closed its sending side.
    private var hasEnded = false
    /// Whether the client no longer reads.
    private var isGone = false
    /// The user that the client must prove to be; `nil` once known.
    private var requiredUser: UInt32?

    private var peer: fbtweak__peer
    /// The client's process and user, for the changes that it makes. What it is called is found out when it makes the
    /// first one.
    private(set) lazy var identity = ClientIdentity(peer)
    /// The last person for whom it asked.
    private var lastPerson: ClientIdentity?

    /// Whether the client may hold leases, which then end with the connection.
    private var holdsLeases = false

    /// Whether the client's user is unknown.
    var isStranger: Bool { requiredUser != nil }

    /// - Parameter requiredUser: The user that must send the first request; `nil` if the user is known already.
    init(id: UInt64, socket: Descriptor, of peer: fbtweak__peer, mustBe requiredUser: UInt32?) {
        self.id = id
        self.socket = socket
        self.peer = peer
        self.requiredUser = requiredUser
    }

    func close() { socket.close() }

    /// The client, as it asks for a person.
    func identity(for person: String?) -> ClientIdentity {
        guard let person else { return identity }
        if let lastPerson, lastPerson.person == person { return lastPerson }
        let identity = ClientIdentity(of: identity, person: person)
        lastPerson = identity
        return identity
    }

    var awaited: pollfd {
        let events = (canRead ? POLLIN : 0) | (sent < output.count ? POLLOUT : 0)
        // poll would report a closed connection forever.
        return pollfd(fd: isGone ? -1 : socket.number, events: Int16(events), revents: 0)
    }

    /// Whether there is work to do without waiting.
    var wantsTurn: Bool { mayBegin || (isGone && canRead) }

    /// Whether the connection is finished. Complete requests are executed even if the client does not wait.
    var isDone: Bool {
        // A full buffer may hold lines that are not parsed yet.
        guard hasEnded, requests.isEmpty, hasRoom else { return false }
        return isGone
            || onWorker + runningActions == 0 && sent == output.count && subscriptions.isEmpty
                && samplings.isEmpty && !holdsLeases
    }

    var hasSubscriptions: Bool { !subscriptions.isEmpty }

    private var canRead: Bool { !hasEnded && hasRoom }

    private var hasRoom: Bool {
        requests.count + onWorker + runningActions < ControlLimits.waitingRequests
            && output.count - sent < ControlLimits.unreadSize
    }
}

// MARK: - Requests

extension EndpointClient {
    /// Reads the available data.
    func read(_ events: Int16) {
        if events & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 || (events != 0 && !socket.isOurs) { leave() }
        guard canRead, events & Int16(POLLIN) != 0 || isGone else { return }
        withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 1) { buffer in
            let count = socket.isOurs ? receive(buffer) : 0
            if isStranger, count > 0 { return leave(forGood: true) }
            if count > 0 {
                input.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } else if count == 0 || errno != EAGAIN && errno != EINTR {
                hasEnded = true
            }
        }
    }

    private func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let required = requiredUser else {
            return recv(socket.number, buffer.baseAddress, buffer.count, 0)
        }
        var sender = UInt32.max
        let count = fbtweak__receive_from(socket.number, buffer.baseAddress, buffer.count, &sender)
        if count > 0, sender == required || sender == 0 {
            requiredUser = nil
            peer.user = sender
        }
        return count
    }

    /// The next request, if its turn has come. Requests start in order; those executed here wait for the worker, so
    /// that answers are in order, too.
    func nextRequest() -> ControlRequest? { hasNext() ? requests.removeFirst() : nil }

    /// Whether the turn of a request has come.
    func hasNext() -> Bool {
        while hasRoom, let line = input.next() {
            switch line {
            case .message(let bytes): if !bytes.isEmpty { requests.append(ControlRequest(line: bytes)) }
            case .tooLong: requests.append(.tooLong)
            }
        }
        return mayBegin
    }

    private var mayBegin: Bool {
        guard let first = requests.first, isGone || output.count - sent < ControlLimits.unreadSize else {
            return false
        }
        return onWorker == 0 || first.setsValues
    }
}

// MARK: - Answers

extension EndpointClient {
    func send(_ line: [UInt8]) {
        if !isGone { output += line }
    }

    /// Writes as much as the client accepts. Changes are encoded once it has taken everything before them.
    func write(_ lines: inout ChangeLines) {
        while !isGone {
            if sent == output.count {
                addChanges(&lines)
                addSamples()
            }
            guard sent < output.count else { return }
            guard socket.isOurs else { return leave() }
            let count = output.withUnsafeBytes { bytes in
                Glibc.send(
                    socket.number, bytes.baseAddress.map { $0 + sent }, bytes.count - sent,
                    CInt(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno == EINTR { continue }
                if errno != EAGAIN { leave() }
                return
            }
            sent += count
            if sent == output.count || sent > ControlLimits.unreadSize {
                output.removeFirst(sent)
                sent = 0
            }
        }
    }

    /// - Parameter isForGood: Whether its pending requests are dropped, too.
    func leave(forGood isForGood: Bool = false) {
        isGone = true
        if isForGood { (hasEnded, requests, requiredUser) = (true, [], nil) }
        (output, sent) = ([], 0)
        (subscriptions, samplings) = ([:], [:])
        changes = CoalescedChanges()
    }
}

// MARK: - Leases

extension EndpointClient {
    /// Notes that the client asks for leases.
    ///
    /// - Returns: Whether the connection is open.
    func holdLeases() -> Bool {
        guard !isGone else { return false }
        holdsLeases = true
        return true
    }

    /// Whether the connection is closed and leases may be left; once.
    func leavesLeases() -> Bool {
        defer { if isGone { holdsLeases = false } }
        return isGone && holdsLeases
    }
}

// MARK: - Subscriptions

extension EndpointClient {
    /// - Returns: The number of the subscription; `nil` if there are too many.
    func subscribe(to tweaks: [TweakKey]?) -> Int? {
        guard subscriptions.count < ControlLimits.subscriptions else { return nil }
        lastSubscription += 1
        subscriptions[lastSubscription] = .some(tweaks.map(Set.init))
        return Int(lastSubscription)
    }

    /// - Returns: Whether the subscription existed.
    func unsubscribe(_ number: Int) -> Bool {
        guard let number = UInt64(exactly: number) else { return false }
        if samplings.removeValue(forKey: number) != nil { return true }
        guard subscriptions.removeValue(forKey: number) != nil else { return false }
        changes.removeAll(for: number)
        return true
    }

    func add(_ change: TweakChange, _ note: ChangeNote) {
        for (subscription, tweaks) in subscriptions where tweaks?.contains(change.key) ?? true {
            changes.add(change, for: subscription, note: note)
        }
    }

    /// Encodes the oldest waiting changes.
    private func addChanges(_ lines: inout ChangeLines) {
        var messages: [ChangedTweaks] = []
        var size = 0
        while size < Self.portion, let (change, subscription, note) = changes.popFirst() {
            let message = ChangedTweaks.Change(change, note)
            size += message.size
            let number = Int(subscription)
            let place = messages.firstIndex { $0.subscription >= number } ?? messages.endIndex
            if place == messages.endIndex || messages[place].subscription > number {
                messages.insert(ChangedTweaks(subscription: number, changes: []), at: place)
            }
            messages[place].changes.append(message)
        }
        for message in messages { output += lines.line(of: message) }
    }
}

// MARK: - Samples

extension EndpointClient {
    /// When the next sample is due.
    var nextSample: ContinuousClock.Instant? { samplings.values.lazy.map { $0.next }.min() }

    /// - Returns: The number of the subscription; `nil` if there are too many.
    func sample(_ tweaks: [TweakKey], rate: Double) -> Int? {
        guard samplings.count < ControlLimits.samplings else { return nil }
        lastSubscription += 1
        samplings[lastSubscription] = Sampling(of: tweaks, rate: rate, at: .now)
        return Int(lastSubscription)
    }

    func takeSamples(of store: TweakStore) {
        guard !samplings.isEmpty else { return }
        let now = ContinuousClock.now
        for sampling in samplings.values { sampling.take(of: store, at: now) }
    }

    private func addSamples() {
        guard !samplings.isEmpty else { return }
        let now = ContinuousClock.now
        for (number, sampling) in samplings { sampling.write(number, to: &output, at: now) }
    }
}

/// Encodes messages about changes. Most clients get the same message, and encoding is the expensive part.
struct ChangeLines {
    private var last: (message: ChangedTweaks, line: [UInt8])?

    mutating func line(of message: ChangedTweaks) -> [UInt8] {
        if let last, last.message == message { return last.line }
        let line = message.line()
        last = (message, line)
        return line
    }
}

extension ChangedTweaks.Change {
    /// The approximate size in bytes.
    fileprivate var size: Int {
        [oldValue, newValue].reduce(100) { size, value in
            if case .scalar(.string(let text)) = value { size + text.utf8.count } else { size }
        }
    }
}
