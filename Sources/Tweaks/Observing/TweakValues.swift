/// The values of a tweak as they change, see ``Tweak/values``.
public struct TweakValues<Value: TweakableValue>: AsyncSequence, Sendable {
    /// What each iteration gives.
    public typealias Element = Value
    /// Gives the values to one reader.
    public typealias AsyncIterator = AsyncStream<Value>.Iterator

    let tweak: Tweak<Value>

    /// Begins with the current value.
    public func makeAsyncIterator() -> AsyncStream<Value>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let observation = tweak.observe(initially: true) { continuation.yield($0.newValue) }
        // The tweak keeps its store for as long as somebody reads.
        continuation.onTermination = { [tweak] _ in withExtendedLifetime(tweak) { observation.end() } }
        return stream.makeAsyncIterator()
    }
}

extension Tweak {
    /// The values of the tweak: the current one first, then each that it gets.
    ///
    ///     for await stiffness in tweak.values { spring.stiffness = stiffness }
    ///
    /// A reader that is slow misses values but never the last one. The sequence ends when the task that reads it is
    /// cancelled. Each loop over it is independent of others.
    public var values: TweakValues<Value> { TweakValues(tweak: self) }
}
