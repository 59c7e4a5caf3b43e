internal import TweakRecords

extension Tweak {
    /// A change of the tweak's value. In the first call of an observer that asks for one, both values are the current
    /// one.
    public struct Change: Sendable, Equatable {
        /// The value before.
        public let oldValue: Value
        /// The value afterwards.
        public let newValue: Value
        /// Who gave the new value.
        public let source: TweakSource

        @inlinable
        init(oldValue: Value, newValue: Value, source: TweakSource) {
            self.oldValue = oldValue
            self.newValue = newValue
            self.source = source
        }

        /// `nil` if the tweak is of another type by now.
        @inlinable
        init?(_ change: TweakChange) {
            guard let oldValue = Value(tweakValue: change.oldValue),
                let newValue = Value(tweakValue: change.newValue)
            else { return nil }
            self.init(oldValue: oldValue, newValue: newValue, source: change.source)
        }
    }
}
