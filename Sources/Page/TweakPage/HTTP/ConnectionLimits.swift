// SPDX-License-Identifier: BSD-3-Clause
#if UI
import Glibc
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Synchronization

/// The limits of connections. Unauthenticated connections have limits of their own, so that a flood of them does not
/// affect the others.
final class ConnectionLimits: Sendable {
    /// Authenticated connections.
    static let mostKnown = 256
    /// Unauthenticated connections. Above the limit, the one that has been idle the longest is closed.
    private static let mostStrangers = 256
    /// All connections, including those that are being closed.
    static let most = mostKnown + 2 * mostStrangers

    private struct State {
        var known: Set<ObjectIdentifier> = []
        /// Ordered by the last request, oldest first.
        var strangers: [any Channel] = []
    }

    private let state = Mutex(State())

    /// Adds an unauthenticated connection, or notes a request on it.
    func note(_ channel: any Channel) {
        let former = state.withLock { state -> (any Channel)? in
            guard !state.known.contains(ObjectIdentifier(channel)) else { return nil }
            state.strangers.removeAll { $0 === channel }
            state.strangers.append(channel)
            return state.strangers.count > Self.mostStrangers ? state.strangers.removeFirst() : nil
        }
        former?.close(promise: nil)
    }

    /// Counts a connection as authenticated.
    ///
    /// - Returns: `false` if the limit is reached.
    func admit(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard !state.known.contains(ObjectIdentifier(channel)) else { return true }
            guard state.known.count < Self.mostKnown else { return false }
            state.strangers.removeAll { $0 === channel }
            state.known.insert(ObjectIdentifier(channel))
            return true
        }
    }

    /// Removes a closed connection.
    func leave(_ channel: any Channel) {
        state.withLock { state in
            if state.known.remove(ObjectIdentifier(channel)) == nil {
                state.strangers.removeAll { $0 === channel }
            }
        }
    }
}

/// Registers its connection with ``ConnectionLimits``.
final class ConnectionCounter: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The client is authenticated.
    fileprivate struct SecretShown: Sendable {}
    private struct NoPlace: Error {}

    /// How long sent data may stay unacknowledged, in milliseconds, and after how many seconds without data the peer is
    /// asked whether it is there.
    private static let (mostUnacknowledged, pause): (SocketOptionValue, SocketOptionValue) = (10_000, 3)

    private let limits: ConnectionLimits

    init(_ limits: ConnectionLimits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
        limits.note(context.channel)
        // A peer that has gone without a word, as behind a dead network, would otherwise keep its place for minutes.
        _ = context.channel.setOption(.socketOption(.so_keepalive), value: 1)
        for (option, value) in [
            (TCP_KEEPIDLE, Self.pause), (TCP_KEEPINTVL, Self.pause),
            (TCP_USER_TIMEOUT, Self.mostUnacknowledged),
        ] {
            _ = context.channel.setOption(.tcpOption(.init(rawValue: option)), value: value)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { limits.leave(context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) { limits.note(context.channel) }
        context.fireChannelRead(data)
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard event is SecretShown else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        if context.channel.isActive, limits.admit(context.channel) {
            promise?.succeed()
        } else {
            promise?.fail(NoPlace())
        }
    }
}

extension Channel {
    /// Counts the connection as authenticated.
    ///
    /// - Returns: `false` if the limit is reached.
    func isAdmitted() async -> Bool {
        (try? await triggerUserOutboundEvent(ConnectionCounter.SecretShown()).get()) != nil
    }
}
#endif
