// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakPlot
import TweakProtocol
import TweakRecords
import TweakSystem

/// Sends samples, the values of the other tweaks, and changes as datagrams.
struct TweakStream: SampleSink {
    private let address: StreamAddress
    private let socket: DatagramSocket
    private var encoder: any StreamEncoder
    /// The index of each sampled series among all names, and the order in which the indices ascend.
    private let sampled: [(series: Int, name: Int)]
    /// The other tweaks that are numbers or Bools: their places among all names, and their values.
    private let places: [TweakKey: Int]
    private var tweaks: [(name: Int, value: Double?)]
    private let declarations: [TweakKey: TweakDeclaration]
    /// The tweak to be sent next again.
    private var next = 0
    private var lastRepeat: ContinuousClock.Instant?
    /// The latest time sent for tweaks, which never goes back.
    private var lastTime = 0.0
    private var changes = 0
    private var hasWarned = false

    /// Receivers may start later, and show a limited time. So all values are sent again each second, a limited number
    /// at once in turn.
    private static let period: Duration = .seconds(1)
    private static let mostRepeated = 256
    /// The longest text of a change, in Unicode scalars.
    private static let longestLabel = 1000

    /// The number of lost datagrams.
    var lost: Int { socket.lost }

    /// - Parameters:
    ///   - series: The sampled monitors and tweaks.
    ///   - all: All tweaks with their current values.
    init(
        to address: StreamAddress, as form: StreamForm, allowsRemote: Bool, of series: [PlotSeries],
        _ all: [JSONTweak]
    ) throws(Failure) {
        self.address = address
        socket = try address.connect(usualPort: form.port, allowsRemote: allowsRemote)
        declarations = Dictionary(all.map { ($0.declaration.key, $0.declaration) }) { first, _ in first }
        let keys = series.map { TweakKey($0.name) ?? TweakKey("", "", $0.name) }
        let sampledKeys = Set(keys)
        let others = all.filter { tweak in
            let declaration = tweak.declaration
            return declaration.canBeSampled && !declaration.isMonitor
                && !sampledKeys.contains(declaration.key)
        }
        let names =
            zip(keys, series).map { StreamedName(key: $0, unit: $1.unit) }
            + others.map { StreamedName(key: $0.declaration.key, unit: $0.declaration.unit) }
        let order = names.indices.sorted { names[$0].key < names[$1].key }
        encoder = form.encoder(of: order.map { names[$0] })
        var sampled: [(Int, Int)] = []
        var tweaks: [(Int, Double?)] = []
        for (place, index) in order.enumerated() {
            if index < series.count {
                sampled.append((index, place))
            } else {
                tweaks.append((place, others[index - series.count].value?.streamed))
            }
        }
        (self.sampled, self.tweaks) = (sampled, tweaks)
        places = Dictionary(
            tweaks.indices.map { (names[order[tweaks[$0].0]].key, $0) }
        ) { first, _ in first }
    }

    mutating func add(_ batch: SampleBatch, _ changes: [ChangedTweaks.Change]) {
        for (time, values) in zip(batch.times, batch.values) where Self.isTime(time) {
            let present = sampled.compactMap { series, name -> (Int, Double)? in
                guard series < values.count, let value = values[series], value.isFinite else { return nil }
                return (name, value)
            }
            encoder.add(present, at: time)
        }
        for change in changes { add(change) }
        repeatTweaks()
        for datagram in encoder.take() { socket.send(datagram) }
        warn()
    }

    /// Sends the old and the new value at the same time, because receivers connect points by lines.
    private mutating func add(_ change: ChangedTweaks.Change) {
        let time = advance(to: change.time)
        if let place = places[change.tweak] {
            let name = tweaks[place].name
            tweaks[place].value = change.newValue.tweakValue?.streamed
            for value in [change.oldValue.tweakValue?.streamed, tweaks[place].value] {
                if let value { encoder.add([(name, value)], at: time) }
            }
        }
        changes += 1
        let label = change.text(declarations[change.tweak])
        let isLong = label.unicodeScalars.count > Self.longestLabel
        let shown = isLong ? String(label.unicodeScalars.prefix(Self.longestLabel)) + "…" : label
        encoder.mark(shown, number: changes, at: time)
    }

    private mutating func repeatTweaks() {
        guard lastRepeat.map({ .now - $0 >= Self.period }) ?? true else { return }
        lastRepeat = .now
        let end = min(next + Self.mostRepeated, tweaks.count)
        let values = tweaks[next..<end].compactMap { name, value in value.map { (name, $0) } }
        encoder.add(values, at: advance(to: Duration.since1970 / .seconds(1)))
        next = end < tweaks.count ? end : 0
    }

    /// A program may report any time, but no change is later than now.
    private mutating func advance(to time: Double) -> Double {
        let now = Duration.since1970 / .seconds(1)
        lastTime = max(lastTime, Self.isTime(time) ? min(time, now) : now)
        return lastTime
    }

    /// Whether it is a time before the year 5138.
    private static func isTime(_ time: Double) -> Bool { 0...1e11 ~= time }

    private mutating func warn() {
        guard !hasWarned, let problem = socket.problem else { return }
        hasWarned = true
        tweak.warn("\(address.text): \(systemMessage(problem)); datagrams are lost")
    }

    func finish() { socket.finish() }
}

extension TweakValue {
    /// The value as a number; `nil` for texts, colours and infinities.
    fileprivate var streamed: Double? { number.flatMap { $0.isFinite ? $0 : nil } }
}
