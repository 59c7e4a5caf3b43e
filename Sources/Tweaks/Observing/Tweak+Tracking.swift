extension Tweak {
    /// The current value, for code that the Observation framework tracks.
    ///
    ///     withObservationTracking {
    ///         draw(width: width.trackedValue)
    ///     } onChange: {
    ///         redraw()
    ///     }
    ///
    /// Reading ``value`` instead is one load, and not tracked. `onChange` is called when the new value is there.
    public var trackedValue: Value {
        get {
            if cell != 0 { store.tracker.access(key, in: store) }
            return value
        }
        nonmutating set { value = newValue }
    }
}
