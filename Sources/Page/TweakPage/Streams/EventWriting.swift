// SPDX-License-Identifier: BSD-3-Clause
#if UI
import HTTPTypes
import Hummingbird
import NIOCore
import TweakJSON
import TweakProtocol
import TweakRecords

extension PageRequests {
    /// The minimum interval between events.
    private static let period: Duration = .milliseconds(16)
    /// The interval of heartbeats. The page waits for two of them before it says that the values may be old.
    private static let heartbeat: Duration = .seconds(2)
    /// The longest time that a page may block the stream.
    private static let patience: TimeAmount = .seconds(10)

    /// The event stream, a response that does not end.
    func events(_ channel: any Channel, headers: HTTPFields) throws(RequestProblem) -> Response {
        guard let stream = board.open() else {
            throw RequestProblem(.tooManyRequests, "\(Board.mostStreams) pages are open already")
        }
        channel.closeFuture.whenComplete { _ in
            stream.add { $0.isEnding = true }
            board.close(stream)
            sessions.forgetEndedTrials()
        }
        var headers = headers
        headers[.contentType] = "text/event-stream"
        // Otherwise nginx would collect events until a buffer is full.
        if let buffering = HTTPField.Name("X-Accel-Buffering") { headers[buffering] = "no" }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                defer { board.close(stream) }
                try await tell(stream, channel, &writer)
                try await writer.finish(nil)
            })
    }

    private func tell(
        _ stream: EventStream, _ channel: any Channel, _ writer: inout any ResponseBodyWriter
    ) async throws {
        func write(_ buffer: ByteBuffer) async throws {
            let deadline = channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
            defer { deadline.cancel() }
            try await writer.write(buffer)
        }
        var hello = ByteBuffer()
        try hello.writeEvent("hello", Hello(stream: stream, self))
        try await write(hello)
        let beat = Task {
            var wasTrying = false
            while !Task.isCancelled {
                try await Task.sleep(for: Self.heartbeat)
                let isTrying = board.isTrying(stream.number)
                if isTrying {
                    if !wasTrying { stream.hear() }
                    if stream.silence > Trial.patience { board.endTrials(by: stream.number) }
                }
                wasTrying = isTrying
                stream.add { pending in
                    pending.isBeat = true
                    pending.isPing = isTrying
                }
            }
        }
        defer { beat.cancel() }
        for await _ in stream.signal {
            let pending = stream.take()
            var buffer = ByteBuffer()
            try buffer.writeEvents(pending, board)
            if pending.isEnding {
                try buffer.writeEvent("bye", Done())
                return try await write(buffer)
            }
            if buffer.readableBytes > 0 { try await write(buffer) }
            try await Task.sleep(for: Self.period)
        }
    }
}

private struct Beat: Encodable {
    let time = SendingTime.now
}

private struct Hello: Encodable {
    let stream, version: String
    let time = SendingTime.now
    let first: String?
    let comesBack, hasFleet: Bool
    let programs: [ProgramForm]
    let viewers: [Board.Viewer]
    let options = TweakOption.all.map { ["name": $0.name, "title": $0.title, "form": "\($0.form)"] }

    init(stream: EventStream, _ api: PageRequests) {
        (self.stream, version) = ("\(stream.number)", libraryVersion)
        (first, comesBack, hasFleet) = (api.first, api.comesBack, api.fleet != nil)
        (programs, viewers) = (api.board.programs, api.board.viewers)
    }
}

private struct Changes: Encodable {
    let program: String
    let changes: [ChangeForm]
}

private struct Trials: Encodable {
    let program: String
    let trials: [TrialForm]
}

private struct Samples: Encodable {
    let program: String
    let tweaks: [TweakKey]
    let times: [Double]
    let values: [[Double?]]
    let dropped: Int

    init(_ program: String, _ samples: PendingSamples) {
        self.program = program
        tweaks = samples.tweaks
        times = samples.frames.map(\.time)
        values = samples.tweaks.indices.map { index in
            samples.frames.map { frame in frame.values[index].flatMap { $0.isFinite ? $0 : nil } }
        }
        dropped = samples.dropped
    }
}

extension ByteBuffer {
    fileprivate mutating func writeEvent(_ name: String, _ value: some Encodable) throws {
        writeString("event: \(name)\ndata: ")
        // JSON texts never contain a newline.
        writeBytes(try pageJSON(value))
        writeString("\n\n")
    }

    fileprivate mutating func writeEvents(_ pending: EventStream.Pending, _ board: Board) throws {
        for id in pending.gone { try writeEvent("gone", ["program": id]) }
        for id in pending.programs {
            if let entry = board[id] { try writeEvent("program", ["program": ProgramForm(entry)]) }
        }
        for id in pending.reloaded { try writeEvent("tweaks", ["program": id]) }
        for (id, changes) in pending.changes.sorted(by: { $0.key < $1.key }) {
            try writeEvent("changes", Changes(program: id, changes: changes.all))
        }
        for (id, samples) in pending.samples.sorted(by: { $0.key < $1.key }) {
            try writeEvent("samples", Samples(id, samples))
        }
        for id in pending.trials {
            let trials = (board[id]?.trials ?? [:]).sorted { $0.key < $1.key }.map { stream, trial in
                TrialForm(stream: "\(stream)", tweaks: trial.values.keys.sorted())
            }
            try writeEvent("trials", Trials(program: id, trials: trials))
        }
        if pending.isPing { try writeEvent("ping", Done()) }
        for id in pending.presets { try writeEvent("preset", ["program": id]) }
        if pending.viewersChanged { try writeEvent("viewers", ["viewers": board.viewers]) }
        if pending.isBeat { try writeEvent("beat", Beat()) }
    }
}
#endif
