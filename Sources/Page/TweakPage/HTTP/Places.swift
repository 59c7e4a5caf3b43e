#if UI
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Synchronization

/// The places for connections. Those of which nobody has shown a secret have places of their own, so that however many
/// come, the others are served.
final class Places: Sendable {
    /// Streams and requests of those who have shown one.
    static let mostKnown = 256
    /// Others. Then the one is closed that has asked for nothing for the longest time.
    private static let mostStrangers = 256
    /// All, with those that are being closed.
    static let most = mostKnown + 2 * mostStrangers

    private struct State {
        var known: Set<ObjectIdentifier> = []
        /// Those that have asked for something last are at the end.
        var strangers: [any Channel] = []
    }

    private let state = Mutex(State())

    /// Gives a connection a place, or another one at the end of those that have to show a secret.
    func note(_ channel: any Channel) {
        let former = state.withLock { state -> (any Channel)? in
            guard !state.known.contains(ObjectIdentifier(channel)) else { return nil }
            state.strangers.removeAll { $0 === channel }
            state.strangers.append(channel)
            return state.strangers.count > Self.mostStrangers ? state.strangers.removeFirst() : nil
        }
        former?.close(promise: nil)
    }

    /// Gives a connection the place of one of which a secret has been shown.
    ///
    /// - Returns: Whether there is one.
    func admit(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard !state.known.contains(ObjectIdentifier(channel)) else { return true }
            guard state.known.count < Self.mostKnown else { return false }
            state.strangers.removeAll { $0 === channel }
            state.known.insert(ObjectIdentifier(channel))
            return true
        }
    }

    /// Takes the place of a connection that is closed.
    func leave(_ channel: any Channel) {
        state.withLock { state in
            if state.known.remove(ObjectIdentifier(channel)) == nil {
                state.strangers.removeAll { $0 === channel }
            }
        }
    }
}

/// Keeps the place of a connection.
final class PlaceKeeper: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Its client has shown a secret.
    fileprivate struct SecretShown: Sendable {}
    private struct NoPlace: Error {}

    private let places: Places

    init(_ places: Places) { self.places = places }

    func handlerAdded(context: ChannelHandlerContext) { places.note(context.channel) }

    func handlerRemoved(context: ChannelHandlerContext) { places.leave(context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) { places.note(context.channel) }
        context.fireChannelRead(data)
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard event is SecretShown else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        if context.channel.isActive, places.admit(context.channel) {
            promise?.succeed()
        } else {
            promise?.fail(NoPlace())
        }
    }
}

extension Channel {
    /// Gives the connection the place of a client that has shown a secret.
    ///
    /// - Returns: Whether there is one.
    func isAdmitted() async -> Bool {
        (try? await triggerUserOutboundEvent(PlaceKeeper.SecretShown()).get()) != nil
    }
}
#endif
