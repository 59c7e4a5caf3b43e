// SPDX-License-Identifier: BSD-3-Clause
#if UI
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes connections whose requests take too long to arrive, however slowly they keep sending.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private static let forHead: TimeAmount = .seconds(5)
    private static let forBody: TimeAmount = .seconds(30)
    private static let betweenRequests: TimeAmount = .seconds(60)

    private var deadline: Scheduled<Void>?
    private var isLast = false
    /// Whether the whole request has been received, and whether it has been answered.
    private var (isComplete, isAnswered) = (false, false)

    func handlerAdded(context: ChannelHandlerContext) { schedule(Self.forHead, context) }
    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            (isComplete, isAnswered) = (false, false)
            schedule(Self.forBody, context)
        case .body: break
        case .end:
            isComplete = true
            deadline?.cancel()
            if isAnswered { schedule(Self.betweenRequests, context) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            isLast = head.headerFields[.connection] == "close"
            context.write(data, promise: promise)
        case .body: context.write(data, promise: promise)
        case .end where isLast:
            context.writeAndFlush(data, promise: promise)
            context.close(promise: nil)
        case .end:
            isAnswered = true
            if isComplete { schedule(Self.betweenRequests, context) }
            context.write(data, promise: promise)
        }
    }

    private func schedule(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
#endif
